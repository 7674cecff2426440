import type { Line, LiveStatus, SessionFile, SessionSummary, VerboseLine } from '@ambient/contract';
import { doneSession, doneSummary } from '@ambient/contract/test-kit';

export const ID = '2026-11-30T1608';

export function summary(change: Partial<SessionSummary> = {}): SessionSummary {
  return doneSummary(ID, { dir: `/sessions/${ID}`, name: 'Weekly', started_at: '2026-11-30T16:08:00+01:00', ...change });
}

export function sessionFile(change: Partial<SessionFile> = {}): SessionFile {
  return doneSession(ID, { name: 'Weekly', ...change });
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
