import type { Line, LiveStatus, SessionFile, SessionSummary, VerboseLine } from '@ambient/contract';

export const ID = '2026-11-30T1608';

export function summary(change: Partial<SessionSummary> = {}): SessionSummary {
  return {
    dir: `/sessions/${ID}`,
    duration_s: 61,
    error: null,
    id: ID,
    live: false,
    name: 'Weekly',
    started_at: '2026-11-30T16:08:00+01:00',
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

export function sessionFile(change: Partial<SessionFile> = {}): SessionFile {
  return {
    schema: 1,
    id: ID,
    name: 'Weekly',
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

export function line(text: string, change: Partial<Line> = {}): Line {
  return { track: 'room', start_ms: 0, end_ms: 1000, speaker: null, text, ...change };
}

export function verbose(segment: number, text: string, change: Partial<VerboseLine> = {}): VerboseLine {
  return { ...line(text), start_ms: segment * 1000, segment, confidence: null, bleed: false, struck: false, ...change };
}

export const LIVE: LiveStatus = {
  id: ID,
  name: null,
  started_at: '2026-11-30T16:08:00+01:00',
  elapsed_ms: 600_000,
  paused: false,
  muted: [],
  tracks: ['room', 'call'],
  levels: {},
  lines: 3,
};
