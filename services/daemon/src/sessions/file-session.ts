import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  AmbientError,
  Edit,
  type Line,
  type RawLine,
  type SessionFile,
  type SessionState,
  type SessionSummary,
  type Track,
  type Transcript,
  type VerboseLine,
  type Warning,
} from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import { syncDirectory } from '../platform/files.js';
import type { Logger } from '../platform/logger.js';
import { DIR_MODE, removeTemporaries, replaceFile } from './atomic-file.js';
import { deleteAudio, hasAudio } from './audio-files.js';
import { suppressBleed } from './bleed.js';
import { noteDamage } from './damage.js';
import { checkEdit } from './edit-check.js';
import { fileStat, fingerprint, NO_FILE } from './file-stat.js';
import { activeEdits, type Folded, toLine, toVerboseLine } from './fold.js';
import { Mutex } from './mutex.js';
import { renderJson, renderMarkdown, renderText } from './render.js';
import { readSessionFile, SESSION_FILE, writeSessionFile } from './session-file.js';
import { SessionLogs } from './session-logs.js';
import {
  isHit,
  isInLedger,
  isStruckLate,
  planStrikes,
  restOfTurns,
  type Strike,
  silence,
  strikeGap,
  struckStretches,
  unfinishedStrikes,
  withoutSpeech,
  withoutStruckText,
} from './strike.js';
import { summaryRow } from './summary-row.js';
import type { NewEdit, Session, Struck } from './types.js';

/** Lines before a new one that can tell whether it is bleed. */
const BLEED_WINDOW = 60;
/** How long a strike waits for the spool to reach the end of its stretch, ms; the end of the recording makes up for the rest. */
const SPOOL_PATIENCE_MS = 2500;
const SPOOL_POLL_MS = 200;

export interface SessionDeps {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after a write that may change the session's row. */
  readonly changed: (id: string) => void;
}

/** A session folder. The store keeps one instance a folder, so that all writes pass through one queue. */
export class FileSession implements Session {
  readonly id: string;
  readonly dir: string;
  readonly audioDir: string;
  readonly #deps: SessionDeps;
  readonly #mutex = new Mutex();
  readonly #logs: SessionLogs;
  /** Made by this process as a recording: a `live` file of any other session is what a crash or a copy left. */
  readonly #capturing: boolean;
  #file: SessionFile;
  #print: string;
  #removed = false;

  private constructor(dir: string, deps: SessionDeps, file: SessionFile, print: string, capturing: boolean) {
    this.id = path.basename(dir);
    this.dir = dir;
    this.audioDir = path.join(dir, 'audio');
    this.#deps = deps;
    this.#logs = new SessionLogs(dir, capturing);
    this.#file = file;
    this.#print = print;
    this.#capturing = capturing;
  }

  /**
   * Opens an existing folder and finishes a strike that a crash cut.
   * @throws AmbientError `refused_symlink`, `too_new`, `unavailable`
   */
  static async open(dir: string, deps: SessionDeps, capturing = false): Promise<FileSession> {
    const print = await filePrint(dir);
    const session = new FileSession(dir, deps, await readSessionFile(dir), print, capturing);
    if (unfinishedStrikes(session.#file).length > 0) await session.#mutex.run(() => session.#finishStrikes());
    return session;
  }

  get file(): Readonly<SessionFile> {
    return this.#file;
  }

  /** True while this process captures audio into the session. */
  get live(): boolean {
    return this.#capturing && !this.#removed && this.#file.state === 'live';
  }

  /** The state as readers see it: `live` only while something is captured. */
  get state(): SessionState {
    return this.#file.state === 'live' && !this.live ? 'pending' : this.#file.state;
  }

  /** Takes up what others changed in the folder's `session.json`. */
  refresh(): Promise<void> {
    return this.#mutex.run(() => this.#refresh());
  }

  update(change: (draft: SessionFile) => void): Promise<void> {
    return this.#mutex.run(() => this.#update(change));
  }

  addWarning(warning: Omit<Warning, 'at'>): Promise<void> {
    return this.update((draft) => draft.warnings.push({ ...warning, at: this.#now() }));
  }

  appendLine(line: RawLine): Promise<number> {
    return this.#mutex.run(async () => {
      this.#assertPresent();
      const late = isStruckLate(line, this.#file.coverage);
      const stored = late ? withoutSpeech(line) : line;
      if (late) await this.#strikeRestOf([line]);
      const index = await this.#logs.raw.append(stored);
      if (late) await this.#finishStrikes();
      const recent = (await this.#logs.lines()).slice(-BLEED_WINDOW);
      const speaker = activeEdits(await this.#logs.editList()).findLast((e) => e.op === 'name' && e.track === line.track && !e.segments);
      const { track, start_ms, end_ms, text } = stored;
      this.#deps.bus.emit({
        type: 'line',
        session: this.id,
        index,
        line: { track, start_ms, end_ms, speaker: speaker?.op === 'name' ? speaker.speaker : null, text },
        ...(suppressBleed(recent).at(-1) ? { bleed: true } : {}),
      });
      return index;
    });
  }

  rawLines(): Promise<readonly RawLine[]> {
    return this.#mutex.run(async () => {
      await this.#sayDamage();
      return this.#logs.lines();
    });
  }

  async lineCount(): Promise<number> {
    return (await this.rawLines()).length;
  }

  async resumeAt(track: Track): Promise<number> {
    const given = this.#file.warnings.flatMap((warning) => (warning.track === track && warning.samples ? [warning.samples[1]] : []));
    const published = (await this.rawLines()).flatMap((line) => (line.track === track ? [line.samples[1]] : []));
    return [...given, ...published].reduce((most, sample) => Math.max(most, sample), 0);
  }

  appendEdit(edit: NewEdit): Promise<Edit> {
    return this.#mutex.run(async () => {
      this.#assertPresent();
      const edits = await this.#logs.editList();
      checkEdit(edit, await this.#logs.lines(), edits, this.#file.tracks);
      const stored = Edit.parse({ ...edit, id: `e${randomBytes(4).toString('hex')}`, at: this.#now() });
      await this.#logs.edits.append(stored);
      this.#deps.changed(this.id);
      await this.#renewTranscript();
      await this.#announce();
      return stored;
    });
  }

  edits(): Promise<readonly Edit[]> {
    return this.#mutex.run(() => this.#logs.editList());
  }

  async lines(options: { since?: number; verbatim?: boolean } = {}): Promise<readonly Line[]> {
    const { lines } = await this.#folds();
    return lines.slice(options.since ?? 0).map((line) => toLine(line, options.verbatim ?? false));
  }

  async transcript(options: { since?: number; verbatim?: boolean } = {}): Promise<Transcript> {
    const { lines } = await this.#folds();
    const shown = lines.slice(options.since ?? 0).map((line) => toLine(line, options.verbatim ?? false));
    return { lines: shown, next: lines.length, session: this.id, state: this.state };
  }

  async verboseLines(options: { verbatim?: boolean } = {}): Promise<readonly VerboseLine[]> {
    return (await this.#folds()).lines.map((line) => toVerboseLine(line, options.verbatim ?? false));
  }

  #folds(): Promise<Folded> {
    return this.#mutex.run(() => this.#fold());
  }

  summary(): Promise<SessionSummary> {
    return this.#mutex.run(() => this.#summary());
  }

  complete(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#finishStrikes();
      // An import that was cut is decoded anew, struck stretches too.
      for (const strike of struckStretches(this.#file)) await silence(this.audioDir, this.#file, strike);
      await this.#writeTranscript();
      await this.#update((draft) => {
        draft.state = draft.interrupted_at === null ? 'done' : 'interrupted';
        draft.transcribed_at ??= this.#now();
      });
    });
  }

  writeTranscript(): Promise<void> {
    return this.#mutex.run(() => this.#writeTranscript());
  }

  export(format: 'markdown' | 'text' | 'json'): Promise<string> {
    const render = { markdown: renderMarkdown, text: renderText, json: renderJson }[format];
    return this.#mutex.run(async () => {
      const folded = await this.#fold();
      return render(this.#file, folded);
    });
  }

  async strike(range: { fromMs: number; toMs: number; track?: Track }): Promise<Struck> {
    const struck = await this.#mutex.run(async () => {
      this.#assertPresent();
      await this.#refresh();
      const spokenMs = (await this.#logs.lines()).reduce((end, line) => Math.max(end, line.end_ms), 0);
      const strikes = await planStrikes(this, range, spokenMs);
      // The ledger first: from here on a crash leads to the rest being done at the next start.
      await this.#update((draft) => {
        draft.coverage.push(...strikes.filter((strike) => !isInLedger(strike, draft.coverage)).map(strikeGap));
        draft.unfinished_strikes = [...unfinishedStrikes(draft), ...strikes];
      });
      return { lines: await this.#finishStrikes(), toMs: Math.max(...strikes.map(({ to_ms }) => to_ms)) };
    });
    await this.#strikeWhatIsOnItsWay();
    return struck;
  }

  /** Cuts torn ends of the logs and removes temporary files. @returns bytes cut */
  repair(): Promise<number> {
    return this.#mutex.run(async () => {
      this.#assertPresent();
      await removeTemporaries(this.dir);
      return this.#logs.repair();
    });
  }

  restore(): Promise<boolean> {
    return this.#mutex.run(async () => {
      if (!this.live) return false;
      const missing = (await filePrint(this.dir)) === NO_FILE;
      if (missing) {
        await mkdir(this.audioDir, { recursive: true, mode: DIR_MODE });
        await syncDirectory(path.dirname(this.dir));
        await writeSessionFile(this.dir, this.#file);
        this.#print = await filePrint(this.dir);
      }
      const restored = await this.#logs.restore();
      if (!missing && !restored) return false;
      this.#deps.changed(this.id);
      await this.#announce();
      return true;
    });
  }

  /** Deletes the audio and notes when. @returns bytes freed */
  deleteAudio(): Promise<number> {
    return this.#mutex.run(async () => {
      this.#assertPresent();
      const bytes = await deleteAudio(this.audioDir);
      this.#deps.changed(this.id);
      await this.#update((draft) => {
        draft.audio_deleted_at ??= this.#now();
      });
      return bytes;
    });
  }

  /** Runs `remove` after all writes; later ones are refused. */
  detach(remove: () => Promise<void>): Promise<void> {
    return this.#mutex.run(async () => {
      await remove();
      this.#removed = true;
    });
  }

  /** Resolves when every write asked for so far is over. */
  idle(): Promise<void> {
    return this.#mutex.idle();
  }

  // Below, everything runs inside the queue.

  #assertPresent(): void {
    if (this.#removed) throw new AmbientError('not_found', `session ${this.id} was deleted`);
  }

  async #refresh(): Promise<void> {
    const print = await filePrint(this.dir);
    if (print === this.#print) return;
    this.#file = await readSessionFile(this.dir);
    this.#print = print;
  }

  async #update(change: (draft: SessionFile) => void): Promise<void> {
    this.#assertPresent();
    await this.#refresh();
    const before = this.#file;
    const draft = structuredClone(before);
    change(draft);
    if (isDeepStrictEqual(before, draft)) return;
    await writeSessionFile(this.dir, draft);
    this.#file = draft;
    this.#print = await filePrint(this.dir);
    this.#deps.changed(this.id);
    for (const warning of added(before.warnings, draft.warnings)) this.#deps.bus.emit({ type: 'warning', session: this.id, warning });
    for (const gap of added(before.coverage, draft.coverage)) this.#deps.bus.emit({ type: 'coverage', session: this.id, gap });
    // Sample counts move every second of a recording; nobody is told of those alone.
    if (isDeepStrictEqual({ ...before, tracks: 0 }, { ...draft, tracks: 0 })) return;
    await this.#renewTranscript();
    await this.#announce();
  }

  /** What was heard just before a strike reaches the disk a moment later; it is waited for, outside the queue. */
  async #strikeWhatIsOnItsWay(): Promise<void> {
    const deadline = performance.now() + SPOOL_PATIENCE_MS;
    while (this.live && unfinishedStrikes(this.#file).length > 0 && performance.now() < deadline) {
      await pause(SPOOL_POLL_MS);
      await this.#mutex.run(async () => {
        if (!this.#removed) await this.#finishStrikes();
      });
    }
  }

  async #finishStrikes(): Promise<readonly number[]> {
    const strikes = unfinishedStrikes(this.#file);
    if (strikes.length === 0) return [];
    await this.#strikeRestOf((await this.#logs.lines()).filter((line) => strikes.some((strike) => isHit(line, strike))));
    const lines = await this.#logs.raw.rewrite((line) =>
      line.struck !== true && strikes.some((strike) => isHit(line, strike)) ? withoutSpeech(line) : line,
    );
    const struck = new Set((await this.#logs.lines()).flatMap((line, i) => (line.struck ? [i + 1] : [])));
    await this.#logs.edits.rewrite((edit) => withoutStruckText(edit, struck));
    if (lines.length > 0) this.#deps.bus.emit({ type: 'struck', session: this.id, lines: [...lines] });
    const open: Strike[] = [];
    for (const strike of unfinishedStrikes(this.#file))
      if (!(await silence(this.audioDir, this.#file, strike)) && this.live) open.push(strike);
    await this.#renewTranscript();
    await this.#update((draft) => {
      if (open.length > 0) draft.unfinished_strikes = open;
      else delete draft.unfinished_strikes;
    });
    return lines;
  }

  /** Puts what else of these turns goes into the ledger, before anything of it goes. */
  async #strikeRestOf(turns: readonly RawLine[]): Promise<void> {
    const rest = restOfTurns(turns, await this.#logs.lines(), this.#file.coverage);
    if (rest.length === 0) return;
    await this.#update((draft) => {
      draft.coverage.push(...rest.map(strikeGap));
      draft.unfinished_strikes = [...unfinishedStrikes(draft), ...rest];
    });
  }

  /** Says on the session which lines of its logs cannot be read. Whoever reads them is not kept waiting by a disk that does not take it. */
  async #sayDamage(): Promise<void> {
    const finished = this.#file.state === 'done' || this.#file.state === 'interrupted';
    const found = await this.#logs.damage(finished);
    if (found === undefined) return;
    const note = (draft: SessionFile): boolean =>
      found.map(({ name, warning }) => noteDamage(draft, name, warning, this.#now(), finished)).includes(true);
    if (this.#removed || !note(structuredClone(this.#file))) return;
    for (const { warning } of found) if (warning) this.#deps.logger.warn({ session: this.id, code: warning.code }, warning.message);
    try {
      await this.#update(note);
    } catch (error) {
      this.#deps.logger.warn({ err: error, session: this.id }, 'warning of damaged lines not saved');
    }
  }

  async #fold(): Promise<Folded> {
    await this.#sayDamage();
    return this.#logs.fold();
  }

  async #summary(): Promise<SessionSummary> {
    const named = activeEdits(await this.#logs.editList()).some((edit) => edit.op === 'name');
    const speakers = named ? (await this.#fold()).speakers : [];
    return summaryRow(this.dir, this.#file, this.state, { has_audio: await hasAudio(this.audioDir), speakers });
  }

  async #announce(): Promise<void> {
    this.#deps.bus.emit({ type: 'session', session: await this.#summary() });
  }

  async #writeTranscript(): Promise<void> {
    this.#assertPresent();
    const folded = await this.#fold();
    await replaceFile(path.join(this.dir, 'transcript.md'), renderMarkdown(this.#file, folded));
  }

  /** While text is still being made, `transcript.md` waits for the end of it. */
  async #renewTranscript(): Promise<void> {
    const exists = await fileStat(path.join(this.dir, 'transcript.md'));
    if (exists || this.#file.state === 'done' || this.#file.state === 'interrupted') await this.#writeTranscript();
  }

  #now(): string {
    return isoWithOffset(this.#deps.clock.now());
  }
}

function filePrint(dir: string): Promise<string> {
  return fingerprint(path.join(dir, SESSION_FILE));
}

/** Entries of `after` that are not in `before`. */
function added<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  return after.filter((entry) => !before.some((old) => isDeepStrictEqual(old, entry)));
}
