import { SAMPLE_RATE, SAMPLES_PER_MS, type SessionFile, type SessionSummary, TRACKS, type Track, type TrackInfo } from '@ambient/contract';
import { isoWithOffset } from '../platform/clock.js';
import { removeTemporaries } from './atomic-file.js';
import { type AudioFeed, StaticAudioFeed } from './audio-feed.js';
import { trackPath } from './audio-files.js';
import type { FileSession } from './file-session.js';
import type { FileSessionStore } from './file-session-store.js';
import { fileStat } from './file-stat.js';
import { clock } from './render.js';
import type { Session } from './types.js';
import { repairHeader } from './wav.js';

/** Tracks that end this close to each other were cut at the same moment: each is synced once a second. */
const SAME_END_MS = 1000;

/** A session whose text is not complete, with all the audio there is of it. */
export interface Recovered {
  readonly session: Session;
  readonly feeds: readonly AudioFeed[];
}

/**
 * Puts right what a crash left: WAV headers, sample counts, torn log ends, recordings that were never ended. A recording of
 * which nothing was kept is removed. To be run at start, before anything records or transcribes.
 * @returns the sessions that still need transcription, oldest first
 */
export async function recover(store: FileSessionStore, now: Date): Promise<readonly Recovered[]> {
  const recovered: Recovered[] = [];
  for (const row of (await store.list()).toReversed()) {
    try {
      if (row.state === 'done' || row.state === 'interrupted') await removeTemporaries(row.dir);
      if (row.state !== 'pending' && row.state !== 'transcribing') continue;
      const found = await recoverSession(store, row, now);
      if (found) recovered.push(found);
    } catch (error) {
      // Shown with its state in every list; the others must not wait for it.
      store.logger.error({ err: error, session: row.id }, 'session not recovered');
    }
  }
  return recovered;
}

/** True for an import whose file has not been decoded to its end: the importer decodes it again. */
export function isUnfinishedImport(file: SessionFile): boolean {
  return file.origin === 'import' && file.state === 'pending' && file.ended_at === null;
}

async function recoverSession(store: FileSessionStore, row: SessionSummary, now: Date): Promise<Recovered | undefined> {
  const session = await store.get(row.id);
  const cut = await session.repair();
  if (cut > 0) store.logger.warn({ session: row.id, bytes: cut }, 'cut the torn end of a log');
  if (isUnfinishedImport(session.file)) return undefined;
  const samples = await repairAudio(session);
  if (samples.size === 0 && session.file.audio_deleted_at === null && (await session.lineCount()) === 0) {
    store.logger.info({ session: row.id }, 'removed a session that was cut before anything was kept');
    await store.remove(row.id);
    return undefined;
  }
  await session.update((draft) => settle(draft, samples, now));
  const feeds = [...samples].map(
    ([track, count]) => new StaticAudioFeed(track, trackPath(session.audioDir, track), session.file.tracks[track]?.offset_ms ?? 0, count),
  );
  return { session, feeds };
}

/** @returns samples of each track that has any */
async function repairAudio(session: FileSession): Promise<Map<Track, number>> {
  const samples = new Map<Track, number>();
  for (const track of TRACKS) {
    const file = trackPath(session.audioDir, track);
    const count = (await fileStat(file)) ? await repairHeader(file) : 0;
    if (count > 0) samples.set(track, count);
  }
  return samples;
}

/** Brings `session.json` in line with the audio, and ends a recording that a crash cut. */
function settle(draft: SessionFile, samples: ReadonlyMap<Track, number>, now: Date): void {
  const crashed = draft.state === 'live';
  for (const [track, count] of samples) draft.tracks[track] = { ...(draft.tracks[track] ?? foundTrack(draft, track)), samples: count };
  for (const track of TRACKS) {
    const info = draft.tracks[track];
    if (info && !samples.has(track) && draft.audio_deleted_at === null) info.samples = 0;
  }
  const endMs = Math.max(0, ...TRACKS.map((track) => trackEnd(draft, track)));
  if (crashed || draft.duration_s === null) draft.duration_s = endMs / 1000;
  const endedAt = isoWithOffset(new Date(Date.parse(draft.started_at) + endMs));
  draft.ended_at ??= endedAt;
  draft.state = 'pending';
  if (!crashed) return;
  draft.interrupted_at = endedAt;
  draft.warnings.push({
    code: 'interrupted',
    message: `${draft.origin === 'import' ? 'The import' : 'The recording'} was cut at ${clock(endMs)} (${endedAt}), when Ambient was killed or the machine went down.`,
    hint: 'Everything captured until then was kept.',
    at: isoWithOffset(now),
    from_ms: endMs,
  });
  for (const track of TRACKS) {
    const from_ms = trackEnd(draft, track);
    const info = draft.tracks[track];
    if (info === undefined || from_ms >= endMs - SAME_END_MS) continue;
    draft.coverage.push({ track, from_ms, to_ms: endMs, reason: info.samples === 0 ? 'not_started' : 'daemon_died' });
  }
}

function trackEnd(file: SessionFile, track: Track): number {
  const info = file.tracks[track];
  return info ? info.offset_ms + info.samples / SAMPLES_PER_MS : 0;
}

/** What is known of a track whose audio is there but which the crash kept from being written down. */
function foundTrack(file: SessionFile, track: Track): TrackInfo {
  const live = track === 'room' ? 'mic' : 'system';
  return {
    source: file.origin === 'import' ? 'file' : live,
    recorder: null,
    device: null,
    sample_rate: SAMPLE_RATE,
    offset_ms: 0,
    samples: 0,
  };
}
