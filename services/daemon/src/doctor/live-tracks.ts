import { type Check, type CoverageGap, type CoverageReason, check, type LiveStatus, type SessionFile, type Track } from '@ambient/contract';
import { FLOOR_DB } from '../capture/level-meter.js';
import type { Recorder } from '../capture/types.js';
import { clock } from '../sessions/render.js';

export const TRACK_TITLES: Readonly<Record<Track, string>> = { room: 'Microphone', call: 'System audio' };

export function trackId(track: Track): string {
  return `recorder.${track}`;
}

/** Levels are read anew four times a second. */
const LOOKS = 4;
const LOOK_MS = 250;
/** A gap that reached up to so long ago is still open, ms. */
const OPEN_GAP_MS = 1000;

/** Highest peak of each track of the recording in progress over one second, dBFS. */
export async function listen(recorder: Pick<Recorder, 'levels'>): Promise<ReadonlyMap<Track, number>> {
  const peaks = new Map<Track, number>();
  for (let look = 0; look < LOOKS; look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    for (const [track, { peak_db }] of Object.entries(recorder.levels()) as [Track, { peak_db: number }][])
      peaks.set(track, Math.max(peaks.get(track) ?? FLOOR_DB, peak_db));
  }
  return peaks;
}

interface Heard {
  readonly live: LiveStatus;
  readonly file: Readonly<SessionFile>;
  readonly gaps: readonly CoverageGap[];
  readonly peakDb: number | undefined;
}

const LOST: Readonly<Partial<Record<CoverageReason, string>>> = {
  device_lost: 'its device is gone',
  recorder_died: 'its recorder ended',
  recorder_stalled: 'its recorder gives nothing',
  too_fast: 'its device gives samples faster than time passes',
  sleep: 'the computer slept',
  not_started: 'it could not be opened',
};

/** What the recording in progress hears of a track. */
export function liveTrackCheck(track: Track, { live, file, gaps, peakDb = FLOOR_DB }: Heard): Check {
  const [id, title] = [trackId(track), TRACK_TITLES[track]];
  const told = (...codes: readonly string[]) => file.warnings.findLast((one) => one.track === track && codes.includes(one.code));
  const info = file.tracks[track];
  if (!live.tracks.includes(track)) {
    const missing = told('no_microphone', 'no_system_audio');
    if (missing === undefined) return check.ok(id, title, 'Not part of the recording that runs.');
    return check.failure(id, title, missing.message, missing.hint ?? 'See `ambientctl devices`.');
  }
  if (live.paused) return check.ok(id, title, 'The recording that runs is paused.');
  if (live.muted.includes(track)) return check.ok(id, title, 'Muted in the recording that runs.');
  const from =
    info?.source === 'file' ? 'A file is played' : `${info?.recorder ?? 'A recorder'} records ${info?.device ?? 'the default device'}`;
  const gap = gaps.filter((one) => one.track === track && one.to_ms >= live.elapsed_ms - OPEN_GAP_MS).at(-1);
  const lost = gap === undefined ? undefined : LOST[gap.reason];
  if (gap !== undefined && lost !== undefined)
    return check.failure(
      id,
      title,
      `Not heard since ${clock(gap.from_ms)} of the recording that runs: ${lost}.`,
      told('no_microphone', 'no_system_audio')?.hint ??
        'Connect the device again or choose another default one: the track joins by itself.',
    );
  const silence = peakDb <= FLOOR_DB ? told('silent_track') : undefined;
  if (silence !== undefined) return check.failure(id, title, silence.message, silence.hint ?? 'See `ambientctl devices`.');
  const level = peakDb <= FLOOR_DB ? 'silent at the moment' : `peak ${Math.round(peakDb)} dBFS`;
  return check.ok(id, title, `${from} into ${live.id}: ${level}.`);
}
