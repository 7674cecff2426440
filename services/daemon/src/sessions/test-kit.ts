import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DaemonEvent, RawLine, Track, TrackInfo } from '@ambient/contract';
import { Bus } from '../platform/bus.js';
import { silentLogger } from '../platform/logger.js';
import { FileSessionStore } from './file-session-store.js';
import type { NewSession } from './types.js';
import { wavHeader } from './wav.js';

/** A store over a temporary folder, for tests. */
export interface StoreKit {
  readonly dir: string;
  readonly store: FileSessionStore;
  readonly bus: Bus;
  readonly events: DaemonEvent[];
  /** A store over the same folder, as a daemon that starts again has it. */
  restart(): Promise<FileSessionStore>;
  remove(): Promise<void>;
}

export async function openStoreKit(): Promise<StoreKit> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'ses-'));
  const dir = path.join(home, 'sessions');
  const events: DaemonEvent[] = [];
  const bus = new Bus((error) => {
    throw error;
  });
  bus.on('kit', (event) => events.push(event));
  const clock = { now: () => new Date('2026-11-30T17:00:00Z'), monotonicMs: () => 0 };
  const restart = async () => {
    const store = new FileSessionStore({ dir, bus, clock, logger: silentLogger() });
    await store.start();
    return store;
  };
  const remove = () => rm(home, { recursive: true, force: true });
  return { dir, store: await restart(), bus, events, restart, remove };
}

export const START = new Date('2026-11-30T16:08:03.120Z');

export function newSession(init: Partial<NewSession> = {}): NewSession {
  const track = (source: TrackInfo['source']): TrackInfo => ({
    source,
    recorder: 'sox',
    device: null,
    sample_rate: 16_000,
    offset_ms: 0,
    samples: 0,
  });
  const tracks = { room: track('mic'), call: track('system') };
  return { name: null, origin: 'live', startedAt: START, tracks, model: 'moonshine-base', ...init };
}

/** A turn at `[start, end)` seconds. */
export function line(track: Track, start: number, end: number, text: string): RawLine {
  return {
    track,
    start_ms: start * 1000,
    end_ms: end * 1000,
    text,
    confidence: 0.9,
    language: 'en',
    samples: [start * 16_000, end * 16_000],
    model: 'moonshine-base',
  };
}

/** Writes a spool of `seconds` of a constant that is not silence. */
export async function writeAudio(audioDir: string, track: Track, seconds: number): Promise<void> {
  const samples = Math.round(seconds * 16_000);
  const audio = Buffer.alloc(samples * 2, 1);
  await writeFile(path.join(audioDir, `${track}.wav`), Buffer.concat([wavHeader(samples), audio]));
}
