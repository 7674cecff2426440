/** Whole values of the contract for tests that care about a field or two of them. */
import type { SessionFile, SessionSummary } from './session.js';
import type { DaemonStatus } from './status.js';

/** A daemon that runs and does nothing. */
export function idleStatus(change: Partial<DaemonStatus> = {}): DaemonStatus {
  return {
    version: '0.1.0',
    pid: 1,
    home: '/data',
    started_at: '2026-11-30T16:00:00+01:00',
    live: null,
    awaiting_transcript: 0,
    sessions: 0,
    lag_s: 0,
    recognizer: { state: 'unloaded', model: 'moonshine-base', pid: null, error: null },
    imports: [],
    warnings: [],
    mcp: { enabled: false, socket: null, connections: 0 },
    watching: null,
    approvals_pending: 0,
    ...change,
  };
}

/** A session without a name whose transcript is complete. */
export function doneSummary(id: string, change: Partial<SessionSummary> = {}): SessionSummary {
  return {
    dir: `/data/sessions/${id}`,
    duration_s: 61,
    error: null,
    id,
    live: false,
    name: null,
    started_at: null,
    transcribed: true,
    transcribing: false,
    state: 'done',
    ended_at: null,
    has_audio: true,
    tags: [],
    pinned: false,
    speakers: [],
    warning_count: 0,
    ...change,
  };
}

/** The session.json of a recording without a name whose transcript is complete. */
export function doneSession(id: string, change: Partial<SessionFile> = {}): SessionFile {
  return {
    schema: 1,
    id,
    name: null,
    state: 'done',
    origin: 'live',
    source_file: null,
    started_at: '2026-11-30T16:08:00+01:00',
    ended_at: null,
    duration_s: 61,
    tracks: {},
    model: null,
    language: null,
    interrupted_at: null,
    transcribed_at: null,
    audio_deleted_at: null,
    warnings: [],
    coverage: [],
    tags: [],
    notes: '',
    pinned: false,
    ...change,
  };
}
