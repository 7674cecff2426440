import { openApprovals, openWarnings, SILENCE_MS, type TrayState } from './state.js';

export const ICON_NAMES = ['idle', 'recording', 'listening', 'paused', 'transcribing', 'warning', 'approval', 'offline'] as const;
export type IconName = (typeof ICON_NAMES)[number];

/** What is true now, as one word. What needs a person comes before what merely goes on. */
export function iconOf(state: TrayState, at: number, wallMs: number): IconName {
  if (!state.connected) return 'offline';
  if (openApprovals(state, wallMs).length > 0) return 'approval';
  if (openWarnings(state).length > 0) return 'warning';
  if (state.live !== null) {
    if (state.live.paused) return 'paused';
    return at - state.live.heardAt >= SILENCE_MS ? 'listening' : 'recording';
  }
  return isTranscribing(state) ? 'transcribing' : 'idle';
}

/** Text is being made of something that is not being recorded. */
export function isTranscribing({ status }: TrayState): boolean {
  return (
    status !== null &&
    (status.awaiting_transcript > 0 || status.imports.some(({ state }) => state === 'decoding' || state === 'transcribing'))
  );
}
