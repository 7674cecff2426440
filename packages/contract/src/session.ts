import { z } from 'zod';
import { Track } from './tracks.js';

/** Version of the files in a session folder. A higher one than this build knows is refused, never rewritten. */
export const SESSION_SCHEMA = 1;

/**
 * `live` audio is being captured; `pending` captured, waiting its turn; `transcribing` text is being made;
 * `done` transcript complete; `interrupted` complete up to a crash, and finished since;
 * `broken` the folder cannot be used (its `error` says why).
 */
export const SessionState = z.enum(['live', 'transcribing', 'pending', 'done', 'interrupted', 'broken']);
export type SessionState = z.infer<typeof SessionState>;

/** Something that went wrong or was missed, in words for the user. */
export const Warning = z.object({
  /** Stable machine name, e.g. `silent_track`, `device_lost`, `turn_failed`, `interrupted`, `disk_low`. */
  code: z.string(),
  message: z.string(),
  /** The next step. */
  hint: z.string().optional(),
  /** ISO 8601 with offset. */
  at: z.string(),
  track: Track.optional(),
  /** Range on the session's clock, ms. */
  from_ms: z.number().optional(),
  to_ms: z.number().optional(),
  /** Range `[from, to)` in the track's samples; transcription never goes back before `to`. */
  samples: z.tuple([z.number().int(), z.number().int()]).optional(),
});
export type Warning = z.infer<typeof Warning>;

/** Why a stretch of a track holds no heard audio. */
export const CoverageReason = z.enum([
  'device_lost',
  'recorder_died',
  'recorder_stalled',
  'too_fast',
  'sleep',
  'disk_full',
  'daemon_died',
  'paused',
  'muted',
  'struck',
  'not_started',
]);
export type CoverageReason = z.infer<typeof CoverageReason>;

/** One stretch without heard audio, filled with zeros so that the clock stays true. */
export const CoverageGap = z.object({
  track: Track,
  /** On the session's clock, ms. */
  from_ms: z.number(),
  to_ms: z.number(),
  reason: CoverageReason,
  /** Nobody asked for this stretch to be struck: it is the rest of a turn of which a part was. */
  rest_of_turn: z.boolean().optional(),
});
export type CoverageGap = z.infer<typeof CoverageGap>;

export const TrackInfo = z.object({
  /** `mic`, `system` or `file`. */
  source: z.enum(['mic', 'system', 'file']),
  /** Program that records: sox, arecord, parec, audiotee; null for a file. */
  recorder: z.string().nullable(),
  device: z.string().nullable(),
  /** Hz of the stored file. */
  sample_rate: z.number().int(),
  /** Time of the track's first sample on the session's clock, ms. */
  offset_ms: z.number(),
  /** Samples captured so far; exact once capture has ended. */
  samples: z.number().int().nonnegative(),
});
export type TrackInfo = z.infer<typeof TrackInfo>;

/** `session.json`. Unknown keys are kept. */
export const SessionFile = z.looseObject({
  schema: z.number().int().positive(),
  id: z.string(),
  name: z.string().nullable(),
  state: SessionState,
  /** `live` recording or `import`ed file. */
  origin: z.enum(['live', 'import']),
  /** Path of the imported file. */
  source_file: z.string().nullable().default(null),
  /** ISO 8601 with offset: when capture began. */
  started_at: z.string(),
  /** ISO 8601 with offset: its place in lists when that is not `started_at`, because the clock was set back before it began. */
  sorted_at: z.string().optional(),
  /** ISO 8601 with offset: when capture ended; null while live. */
  ended_at: z.string().nullable(),
  /** Length in seconds, from samples; null while live. */
  duration_s: z.number().nullable(),
  tracks: z.partialRecord(Track, TrackInfo),
  model: z.string().nullable(),
  language: z.string().nullable().default(null),
  /** ISO 8601: the crash that cut this session, when there was one. */
  interrupted_at: z.string().nullable().default(null),
  /** ISO 8601 with offset: when its transcript became complete; null before, and in sessions of older builds. */
  transcribed_at: z.string().nullable().default(null),
  /** When its audio was deleted by retention or by the user; null while present. */
  audio_deleted_at: z.string().nullable().default(null),
  warnings: z.array(Warning).default([]),
  coverage: z.array(CoverageGap).default([]),
  tags: z.array(z.string()).default([]),
  notes: z.string().default(''),
  pinned: z.boolean().default(false),
});
export type SessionFile = z.infer<typeof SessionFile>;

/** No session is as long as a year, ms: a greater number is damage. */
const Position = z.number().max(366 * 86_400_000);

/** One line of `raw.jsonl`: one recognised turn. */
export const RawLine = z.looseObject({
  track: Track,
  /** On the session's clock, ms. */
  start_ms: Position,
  end_ms: Position,
  text: z.string(),
  /** 0..1, or null when the model gives none. */
  confidence: z.number().min(0).max(1).nullable(),
  /** BCP 47, or null when unknown. */
  language: z.string().nullable(),
  /** Range `[from, to)` in the track's samples: the checkpoint that makes publishing exactly-once. */
  samples: z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]),
  model: z.string(),
  /** Set when the user struck this line: its text is gone, its place stays. */
  struck: z.boolean().optional(),
});
export type RawLine = z.infer<typeof RawLine>;

/** One line of `edits.jsonl`. Edits are folded over raw lines on read, in order; each can be reverted by its id. */
export const Edit = z.discriminatedUnion('op', [
  /** Everything on `track` (or the lines `segments`, numbered from 1) is said by `speaker`; null clears. */
  z.looseObject({
    op: z.literal('name'),
    id: z.string(),
    at: z.string(),
    track: Track.optional(),
    segments: z.array(z.number().int().positive()).optional(),
    speaker: z.string().nullable(),
  }),
  /** Replaces the text of one line. */
  z.looseObject({
    op: z.literal('correct'),
    id: z.string(),
    at: z.string(),
    segment: z.number().int().positive(),
    text: z.string(),
  }),
  z.looseObject({
    op: z.literal('comment'),
    id: z.string(),
    at: z.string(),
    segment: z.number().int().positive().optional(),
    text: z.string(),
  }),
  /** Undoes the edit `edit`. */
  z.looseObject({ op: z.literal('revert'), id: z.string(), at: z.string(), edit: z.string() }),
]);
export type Edit = z.infer<typeof Edit>;

/** A line as readers see it: the fields of the sessions contract. */
export const Line = z.object({
  track: Track,
  start_ms: z.number(),
  end_ms: z.number(),
  speaker: z.string().nullable(),
  text: z.string(),
});
export type Line = z.infer<typeof Line>;

/** One row of `sessions`: the fields of the sessions contract, in sorted order. */
export const SessionRow = z.object({
  dir: z.string(),
  duration_s: z.number().nullable(),
  error: z.string().nullable(),
  id: z.string(),
  live: z.boolean(),
  name: z.string().nullable(),
  started_at: z.string().nullable(),
  transcribed: z.boolean(),
  transcribing: z.boolean(),
});
export type SessionRow = z.infer<typeof SessionRow>;

/** A row of the control API: the contract's row plus what our own clients show. */
export const SessionSummary = SessionRow.extend({
  state: SessionState,
  /** As in `session.json`. */
  sorted_at: z.string().optional(),
  ended_at: z.string().nullable(),
  has_audio: z.boolean(),
  tags: z.array(z.string()),
  pinned: z.boolean(),
  speakers: z.array(z.string()),
  warning_count: z.number().int(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** A reading of a transcript: the reply of the contract's `transcript` tool. */
export const Transcript = z.object({
  lines: z.array(Line),
  next: z.number().int(),
  session: z.string(),
  state: SessionState,
});
export type Transcript = z.infer<typeof Transcript>;
