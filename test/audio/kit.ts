import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Config, ConfigSchema, type DaemonEvent, StartRequest, type Track } from '@ambient/contract';
import { LiveRecorder } from '../../services/daemon/src/capture/live-recorder.js';
import type { CapturePorts } from '../../services/daemon/src/capture/ports.js';
import { Bus } from '../../services/daemon/src/platform/bus.js';
import { systemClock } from '../../services/daemon/src/platform/clock.js';
import { silentLogger } from '../../services/daemon/src/platform/logger.js';
import type { AudioFeed } from '../../services/daemon/src/sessions/audio-feed.js';
import { FileSessionStore } from '../../services/daemon/src/sessions/file-session-store.js';

/** Capture over a real session store in a temporary folder. */
export interface CaptureKit {
  readonly dir: string;
  readonly ports: CapturePorts;
  readonly recorder: LiveRecorder;
  readonly store: FileSessionStore;
  readonly events: DaemonEvent[];
  /** Settings, to be changed at will. */
  readonly config: Config;
  /** What the recogniser would say of a track. */
  readonly speaking: Set<Track>;
  /** Feeds of each session, by id. */
  readonly feeds: Map<string, readonly AudioFeed[]>;
  stop(): Promise<void>;
}

export async function openCaptureKit(settings: Partial<Config> = {}, parent = os.tmpdir(), clock = systemClock): Promise<CaptureKit> {
  const dir = await mkdtemp(path.join(parent, 'cap-'));
  const events: DaemonEvent[] = [];
  const speaking = new Set<Track>();
  const feeds = new Map<string, readonly AudioFeed[]>();
  const bus = new Bus((error) => {
    throw error;
  });
  bus.on('kit', (event) => events.push(event));
  const logger = silentLogger();
  const store = new FileSessionStore({ dir: path.join(dir, 'sessions'), bus, clock, logger });
  await store.start();
  const config = ConfigSchema.parse({ 'disk.low_mb': 0, 'disk.stop_mb': 0, ...settings });
  const ports: CapturePorts = {
    store,
    bus,
    clock,
    logger,
    config: (key) => config[key],
    onSession: (session, opened) => {
      feeds.set(session.id, opened);
      return { done: Promise.resolve('complete'), progress: () => 1, speaking: (track) => speaking.has(track) };
    },
    onChange: () => {},
  };
  const recorder = new LiveRecorder(ports);
  const stop = async (): Promise<void> => {
    await recorder.shutdown();
    await store.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { dir, ports, recorder, store, events, config, speaking, feeds, stop };
}

export function startRequest(init: Partial<StartRequest> = {}): StartRequest {
  return StartRequest.parse(init);
}

/** The samples of a track's file, and how many its header declares. */
export async function readTrack(sessionDir: string, track: Track): Promise<{ samples: Int16Array; declared: number }> {
  const bytes = await readFile(path.join(sessionDir, 'audio', `${track}.wav`));
  const samples = new Int16Array(Math.floor((bytes.length - 44) / 2));
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(44 + i * 2);
  return { samples, declared: bytes.readUInt32LE(40) / 2 };
}

/** RMS of samples `[from, to)`, on the scale of s16. */
export function rms(samples: Int16Array, from = 0, to = samples.length): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += (samples[i] ?? 0) ** 2;
  return to > from ? Math.sqrt(sum / (to - from)) : 0;
}

export function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 20_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  return (async () => {
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`timed out: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
}

/** Mean amplitude of the part of `samples` that swings at `hz` Hz, over windows of 0.1 s, on the scale of s16. */
export function strength(samples: Int16Array, hz: number): number {
  let sum = 0;
  let windows = 0;
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW, windows++) sum += goertzel(samples.subarray(at, at + WINDOW), hz);
  return windows === 0 ? 0 : sum / windows;
}

const WINDOW = 1600;

function goertzel(samples: Int16Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / 16_000);
  let last = 0;
  let before = 0;
  for (const sample of samples) [last, before] = [sample + coefficient * last - before, last];
  return (2 * Math.sqrt(Math.max(0, last ** 2 + before ** 2 - coefficient * last * before))) / samples.length;
}
