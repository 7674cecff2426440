import { z } from 'zod';
import { Warning } from './session.js';
import { Track } from './tracks.js';

/** Level of one track over the last report interval. */
export const Level = z.object({
  /** dBFS, -120 for digital silence. */
  rms_db: z.number(),
  peak_db: z.number(),
  /** Voice is being heard right now. */
  speech: z.boolean(),
  muted: z.boolean(),
});
export type Level = z.infer<typeof Level>;

export const Levels = z.partialRecord(Track, Level);
export type Levels = z.infer<typeof Levels>;

/** The recording in progress. */
export const LiveStatus = z.object({
  id: z.string(),
  name: z.string().nullable(),
  started_at: z.string(),
  /** Length so far, ms. */
  elapsed_ms: z.number(),
  paused: z.boolean(),
  muted: z.array(Track),
  tracks: z.array(Track),
  levels: Levels,
  /** Lines published so far. */
  lines: z.number().int(),
});
export type LiveStatus = z.infer<typeof LiveStatus>;

export const ImportStatus = z.object({
  id: z.string(),
  file: z.string(),
  state: z.enum(['decoding', 'transcribing', 'done', 'failed']),
  /** 0..1 */
  progress: z.number(),
  error: z.string().nullable(),
});
export type ImportStatus = z.infer<typeof ImportStatus>;

export const DaemonStatus = z.object({
  version: z.string(),
  pid: z.number().int(),
  home: z.string(),
  started_at: z.string(),
  /** The recording in progress, or null. */
  live: LiveStatus.nullable(),
  /** Sessions whose audio is captured but not yet transcribed. */
  awaiting_transcript: z.number().int(),
  sessions: z.number().int(),
  /** Seconds of captured audio that recognition has not reached yet. */
  lag_s: z.number(),
  recognizer: z.object({
    state: z.enum(['unloaded', 'loading', 'ready', 'busy', 'failed']),
    model: z.string(),
    pid: z.number().int().nullable(),
    error: z.string().nullable(),
  }),
  imports: z.array(ImportStatus),
  /** Warnings of the daemon itself; those of a session are on the session. */
  warnings: z.array(Warning),
  mcp: z.object({ enabled: z.boolean(), socket: z.string().nullable(), connections: z.number().int() }),
  /** Who follows the meeting through the assistant tools, or null. */
  watching: z.object({ client: z.string(), since: z.string() }).nullable(),
  approvals_pending: z.number().int(),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;
