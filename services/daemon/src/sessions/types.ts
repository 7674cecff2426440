import type {
  Edit,
  Line,
  RawLine,
  SessionFile,
  SessionSummary,
  Track,
  TrackInfo,
  Transcript,
  VerboseLine,
  Warning,
} from '@ambient/contract';

export interface NewSession {
  readonly name: string | null;
  readonly origin: 'live' | 'import';
  readonly sourceFile?: string;
  /** Wall time at which capture began; gives the id. */
  readonly startedAt: Date;
  readonly tracks: Partial<Record<Track, TrackInfo>>;
  readonly model: string | null;
  readonly state?: SessionFile['state'];
  /** It begins now: in lists it stands before every other session, though the clock may have been set back since one began. */
  readonly isNewest?: boolean;
}

/** `Edit` without the id and time that the session gives it. */
export type NewEdit = Edit extends infer E ? (E extends Edit ? WithoutIdentity<E> : never) : never;
/** Drops the index signature of a loose object too: `Omit` would drop every named key for it. */
type WithoutIdentity<E> = { [K in keyof E as K extends 'id' | 'at' ? never : string extends K ? never : K]: E[K] };

/** What a strike took. */
export interface Struck {
  /** Indices from 0 of the lines. */
  readonly lines: readonly number[];
  /** Where it ended on the session's clock, ms: where it was to end, or the session's end before that. */
  readonly toMs: number;
}

/**
 * One session folder. All writes of a session go through its one instance and are serialised; reads see the last write.
 * Emits `line`, `session`, `warning`, `coverage` and `struck` on the bus.
 */
export interface Session {
  readonly id: string;
  readonly dir: string;
  /** `<dir>/audio` */
  readonly audioDir: string;
  /** The current content of session.json; never mutate it. */
  readonly file: Readonly<SessionFile>;
  /** Changes session.json atomically. The callback mutates the draft. */
  update(change: (draft: SessionFile) => void): Promise<void>;
  addWarning(warning: Omit<Warning, 'at'>): Promise<void>;
  /** Appends to raw.jsonl and fsyncs, then emits `line`. @returns the line's index from 0. */
  appendLine(line: RawLine): Promise<number>;
  /** Every complete line of raw.jsonl. */
  rawLines(): Promise<readonly RawLine[]>;
  /** Number of lines published. */
  lineCount(): Promise<number>;
  /** First sample of a track that is neither in a published line nor given up in a warning: where transcription goes on. */
  resumeAt(track: Track): Promise<number>;
  appendEdit(edit: NewEdit): Promise<Edit>;
  edits(): Promise<readonly Edit[]>;
  /** Folded lines (edits applied, bleed left in place), or what was heard when verbatim; struck lines have empty text. */
  lines(options?: { since?: number; verbatim?: boolean }): Promise<readonly Line[]>;
  /** The contract's reading. `since` past the end gives no lines and the true `next`. */
  transcript(options?: { since?: number; verbatim?: boolean }): Promise<Transcript>;
  verboseLines(options?: { verbatim?: boolean }): Promise<readonly VerboseLine[]>;
  summary(): Promise<SessionSummary>;
  /**
   * While it is captured: makes the folder, session.json and the logs again when somebody moved or removed them. Audio is the recorder's.
   * @returns whether anything was missing
   */
  restore(): Promise<boolean>;
  /** Transcript complete: state `done` (or `interrupted`), writes transcript.md. */
  complete(): Promise<void>;
  writeTranscript(): Promise<void>;
  /**
   * Removes what was said in `[fromMs, toMs)` from audio and text, edits included; lines keep their place. A line published
   * later that falls into a struck stretch of its track is published empty. A crash in the middle is made up for when the
   * session is next opened.
   * @throws AmbientError `bad_request`, also for a range that begins behind the session's end
   */
  strike(range: { fromMs: number; toMs: number; track?: Track }): Promise<Struck>;
  export(format: 'markdown' | 'text' | 'json'): Promise<string>;
}

export interface SessionStore {
  /** The folder that holds session folders. */
  readonly dir: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Makes the folder when somebody moved or removed it. */
  prepare(): Promise<void>;
  create(init: NewSession): Promise<Session>;
  /** @throws AmbientError `bad_request` for anything but one plain segment, `not_found`, `refused_symlink`, `too_new` */
  get(id: string): Promise<Session>;
  /** Id for an argument: exact id, unique prefix, `last` or `live`. @throws AmbientError `not_found`, `ambiguous`, `bad_request` */
  resolve(arg: string): Promise<string>;
  /** Newest first, broken ones included. */
  list(): Promise<readonly SessionSummary[]>;
  /** Real directories under `dir` that are sessions, broken ones included, as ids; newest first. */
  ids(): Promise<readonly string[]>;
  /** Names of the other ones: without an id for a name, and without any part of a session. */
  strays(): Promise<readonly string[]>;
  /** The row of one session; state `broken` with the reason when it cannot be used. Reads only what changed. */
  summary(id: string): Promise<SessionSummary>;
  /** Differs whenever a file of the session that the index or a row is made from was changed, by anyone. */
  fingerprint(id: string): Promise<string>;
  /** Renamed away first, then removed. Refuses the live one. Emits `removed`. */
  remove(id: string): Promise<void>;
  /** @returns bytes freed */
  removeAudio(id: string): Promise<number>;
}
