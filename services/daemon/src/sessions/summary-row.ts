import path from 'node:path';
import { AmbientError, type SessionFile, type SessionState, type SessionSummary } from '@ambient/contract';

/** The row of a session. `state` is the one readers see. */
export function summaryRow(
  dir: string,
  file: SessionFile,
  state: SessionState,
  found: { readonly has_audio: boolean; readonly speakers: readonly string[] },
): SessionSummary {
  return {
    dir,
    duration_s: file.duration_s,
    error: null,
    id: file.id,
    live: state === 'live',
    name: file.name,
    started_at: file.started_at,
    transcribed: state === 'done' || state === 'interrupted',
    transcribing: state === 'transcribing',
    state,
    ...(file.sorted_at === undefined ? {} : { sorted_at: file.sorted_at }),
    ended_at: file.ended_at,
    has_audio: found.has_audio,
    tags: file.tags,
    pinned: file.pinned,
    speakers: [...found.speakers],
    warning_count: file.warnings.length,
  };
}

/** The row of a folder that cannot be used: shown with the reason, never hidden. */
export function brokenRow(dir: string, error: unknown): SessionSummary {
  return {
    dir,
    duration_s: null,
    error: error instanceof AmbientError ? error.message : `cannot be read: ${(error as Error).message}`,
    id: path.basename(dir),
    live: false,
    name: null,
    started_at: null,
    transcribed: false,
    transcribing: false,
    state: 'broken',
    ended_at: null,
    has_audio: false,
    tags: [],
    pinned: false,
    speakers: [],
    warning_count: 0,
  };
}
