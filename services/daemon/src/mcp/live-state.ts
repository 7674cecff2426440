import type { DaemonStatus, LiveStatus } from '@ambient/contract';

export const LIVE_STATES = ['recording', 'listening', 'paused', 'error', 'downloading'] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/**
 * What the library tools call the daemon's state: `recording` with speech now, `listening` while recording in silence,
 * `paused` when nothing is taken down, `error` when nothing can be recognised.
 */
export function liveState(live: LiveStatus | null, recognizer: DaemonStatus['recognizer']['state']): LiveState {
  if (recognizer === 'failed') return 'error';
  if (live === null || live.paused) return 'paused';
  return Object.values(live.levels).some((level) => level.speech) ? 'recording' : 'listening';
}
