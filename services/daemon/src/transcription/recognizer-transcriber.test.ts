import { statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, truncate } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { AmbientError, type RawLine } from '@ambient/contract';
import { resolveModel } from '@ambient/recognizer/models';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConfigStore } from '../config/config-store.js';
import { silentLogger } from '../platform/logger.js';
import { type AudioFeed, StaticAudioFeed } from '../sessions/audio-feed.js';
import { newSession, openStoreKit, type StoreKit } from '../sessions/test-kit.js';
import type { Session } from '../sessions/types.js';
import { RecognizerTranscriber } from './recognizer-transcriber.js';

const fixtures = path.resolve(import.meta.dirname, '../../../../test/fixtures/conversation');
/** Length of each fixture track, samples. */
const SAMPLES = (statSync(path.join(fixtures, 'room.wav')).size - 44) / 2;

let kit: StoreKit;
let cache: string;
let config: ConfigStore;
const open: RecognizerTranscriber[] = [];

beforeAll(async () => {
  kit = await openStoreKit();
  cache = await mkdtemp(path.join(os.tmpdir(), 'tok-'));
  // The small model: what is proved here does not depend on how well it reads.
  config = new ConfigStore({ file: path.join(cache, 'none.json'), env: { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny' } });
  await config.load();
});
afterEach(async () => {
  for (const transcriber of open.splice(0)) await transcriber.stop();
});
afterAll(async () => {
  await kit.remove();
  await rm(cache, { recursive: true, force: true });
});

type Deps = ConstructorParameters<typeof RecognizerTranscriber>[0];

async function transcriberWith(deps: Partial<Deps> = {}): Promise<RecognizerTranscriber> {
  const transcriber = new RecognizerTranscriber({
    config,
    resolveModel: (name) => resolveModel(name, cache),
    logger: silentLogger(),
    onChange: () => undefined,
    ...deps,
  });
  open.push(transcriber);
  await transcriber.start();
  return transcriber;
}

async function conversation(): Promise<{ session: Session; feeds: AudioFeed[] }> {
  const session = await kit.store.create(newSession({ state: 'transcribing', origin: 'import' }));
  await mkdir(session.audioDir, { recursive: true });
  const feeds: AudioFeed[] = [];
  for (const track of ['room', 'call'] as const) {
    const file = path.join(session.audioDir, `${track}.wav`);
    await copyFile(path.join(fixtures, `${track}.wav`), file);
    feeds.push(new StaticAudioFeed(track, file, 0, SAMPLES));
  }
  return { session, feeds };
}

/** A track whose file a new daemon truncates, and fills when told to. */
class DecodedAgain implements AudioFeed {
  readonly track: AudioFeed['track'];
  readonly path: string;
  readonly offsetMs = 0;
  #samples = 0;
  readonly #listeners = new Set<() => void>();

  constructor(feed: AudioFeed) {
    this.track = feed.track;
    this.path = feed.path;
  }

  async empty(): Promise<void> {
    await truncate(this.path, 44);
  }

  async decode(): Promise<void> {
    await copyFile(path.join(fixtures, `${this.track}.wav`), this.path);
    this.#samples = SAMPLES;
    for (const listener of this.#listeners) listener();
  }

  available(): number {
    return this.#samples;
  }

  ended(): boolean {
    return this.#samples > 0;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

const ofTrack = (lines: readonly RawLine[], track: string) =>
  lines.filter((line) => line.track === track).map(({ samples, text }) => ({ samples, text }));
const byTrack = (lines: readonly RawLine[]) => ({ room: ofTrack(lines, 'room'), call: ofTrack(lines, 'call') });

let undisturbed: ReturnType<typeof byTrack>;
beforeAll(async () => {
  const { session, feeds } = await conversation();
  const transcriber = await transcriberWith();
  expect(await transcriber.transcribe(session, feeds).done).toBe('complete');
  undisturbed = byTrack(await session.rawLines());
  await transcriber.stop();
});

describe('RecognizerTranscriber', () => {
  it('reads both tracks of a conversation, told apart and in order', () => {
    const room = undisturbed.room
      .map((line) => line.text)
      .join(' ')
      .toLowerCase();
    const call = undisturbed.call
      .map((line) => line.text)
      .join(' ')
      .toLowerCase();
    expect(room).toMatch(/migration finish.*budget review/);
    expect(call).toMatch(/million rows.*thursday morning/);
    expect(room).not.toContain('million');
    const ends = undisturbed.room.map((line) => line.samples[1]);
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
  });

  it('publishes the same lines once each when the recognizer is killed again and again', async () => {
    const { session, feeds } = await conversation();
    const transcriber = await transcriberWith();
    const job = transcriber.transcribe(session, feeds);
    let kills = 0;
    const killer = setInterval(() => {
      const { pid, state } = transcriber.recognizer();
      if (pid === null || (state !== 'ready' && state !== 'busy') || kills >= 4) return;
      // Between turns as well as inside one: a turn may be tried twice only.
      if (kills % 2 === 0 || state === 'ready') {
        kills++;
        process.kill(pid, 'SIGKILL');
      }
    }, 180);
    expect(await job.done).toBe('complete');
    clearInterval(killer);
    expect(kills).toBeGreaterThan(0);
    expect(byTrack(await session.rawLines())).toEqual(undisturbed);
  });

  it('goes on at its checkpoint in the next daemon after a stop', async () => {
    const { session, feeds } = await conversation();
    const first = await transcriberWith();
    const job = first.transcribe(session, feeds);
    while ((await session.lineCount()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    await first.stop();
    expect(await job.done).toBe('stopped');
    const second = await transcriberWith();
    expect(await second.transcribe(session, feeds).done).toBe('complete');
    expect(byTrack(await session.rawLines())).toEqual(undisturbed);
  });

  it('loses no audio that comes in while a new recognizer is being given the stream', async () => {
    const { session, feeds } = await conversation();
    const listeners = new Set<() => void>();
    const timer = setInterval(() => {
      for (const listener of listeners) listener();
    });
    // A recording whose file grows at every moment.
    const growing = feeds.map(
      (feed): AudioFeed => ({
        track: feed.track,
        path: feed.path,
        offsetMs: 0,
        available: () => feed.available(),
        ended: () => feed.ended(),
        subscribe(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      }),
    );
    const transcriber = await transcriberWith();
    const job = transcriber.transcribe(session, growing);
    for (const lines of [1, 3, 5]) {
      while ((await session.lineCount()) < lines) await new Promise((resolve) => setTimeout(resolve, 5));
      const { pid } = transcriber.recognizer();
      if (pid !== null) process.kill(pid, 'SIGKILL');
    }
    expect(await job.done).toBe('complete');
    clearInterval(timer);
    expect(byTrack(await session.rawLines())).toEqual(undisturbed);
  });

  it('waits with a resumed import until its audio is decoded again up to the checkpoint', async () => {
    const { session, feeds } = await conversation();
    const first = await transcriberWith();
    const only = feeds.filter((feed) => feed.track === 'room');
    const job = first.transcribe(session, only);
    while ((await session.lineCount()) < 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await first.stop();
    expect(await job.done).toBe('stopped');
    const feed = new DecodedAgain(only[0] as AudioFeed);
    await feed.empty();
    const second = await transcriberWith();
    const resumed = second.transcribe(session, [feed]);
    while (second.recognizer().state !== 'ready') await new Promise((resolve) => setTimeout(resolve, 10));
    // Long enough for the stream to be opened, were it not held back.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await feed.decode();
    expect(await resumed.done).toBe('complete');
    expect(byTrack(await session.rawLines()).room).toEqual(undisturbed.room);
  });

  it('gives a turn up after the recognizer hung in it twice, says so, and goes on with the next', async () => {
    const { session, feeds } = await conversation();
    const [first, ...rest] = undisturbed.room;
    const samples = first === undefined ? 0 : first.samples[1] - first.samples[0];
    // The first turn is never given a moment; the one read beside it is.
    const transcriber = await transcriberWith({ decodeLimitMs: (turnMs) => (Math.abs(turnMs * 16 - samples) < 1 ? 0 : 60_000) });
    const only = feeds.filter((feed) => feed.track === 'room');
    expect(await transcriber.transcribe(session, only).done).toBe('complete');
    expect(ofTrack(await session.rawLines(), 'room')).toEqual(rest);
    expect(session.file.warnings).toEqual([expect.objectContaining({ code: 'turn_failed', track: 'room', samples: first?.samples })]);
  });

  it('gives up the one turn that recognizers die of, not those that are read beside it', async () => {
    const { session, feeds } = await conversation();
    const [deadly, ...rest] = undisturbed.room;
    const samples = deadly === undefined ? 0 : deadly.samples[1] - deadly.samples[0];
    let deaths = 0;
    const transcriber: RecognizerTranscriber = await transcriberWith({
      decodeLimitMs: (turnMs) => {
        const { pid } = transcriber.recognizer();
        if (pid !== null && Math.abs(turnMs * 16 - samples) < 1 && ++deaths > 0) process.kill(pid, 'SIGKILL');
        return 60_000;
      },
    });
    expect(await transcriber.transcribe(session, feeds).done).toBe('complete');
    expect(byTrack(await session.rawLines())).toEqual({ room: rest, call: undisturbed.call });
    expect(session.file.warnings).toEqual([expect.objectContaining({ code: 'turn_failed', track: 'room', samples: deadly?.samples })]);
    expect([2, 3]).toContain(deaths);
  });

  it('starts a recognizer anew that says nothing any more, wherever it hangs', async () => {
    const { session, feeds } = await conversation();
    const transcriber = await transcriberWith({ decodeLimitMs: () => 4000, answerLimitMs: 4000 });
    const job = transcriber.transcribe(session, feeds);
    while (transcriber.recognizer().state !== 'ready') await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(transcriber.recognizer().pid as number, 'SIGSTOP');
    expect(await job.done).toBe('complete');
    expect(byTrack(await session.rawLines())).toEqual(undisturbed);
  });

  it('reports a model that does not load and reads everything once one does', async () => {
    const { session, feeds } = await conversation();
    let broken = true;
    const transcriber = await transcriberWith({
      resolveModel: (name) =>
        broken ? Promise.reject(new AmbientError('bad_model', 'The model file x is missing.', 'Install it.')) : resolveModel(name, cache),
    });
    const job = transcriber.transcribe(session, feeds);
    while (transcriber.recognizer().state !== 'failed') await new Promise((resolve) => setTimeout(resolve, 10));
    expect(transcriber.recognizer().error).toBe('The model file x is missing. Install it.');
    broken = false;
    expect(await job.done).toBe('complete');
    expect(byTrack(await session.rawLines())).toEqual(undisturbed);
  });

  it('survives native files that are no model at all', async () => {
    const { session, feeds } = await conversation();
    const good = await resolveModel('moonshine-tiny', cache);
    const transcriber = await transcriberWith({
      resolveModel: () => Promise.resolve({ ...good, encoder: path.join(fixtures, 'room.wav') }),
    });
    transcriber.transcribe(session, feeds);
    while (transcriber.recognizer().state !== 'failed') await new Promise((resolve) => setTimeout(resolve, 10));
    expect(transcriber.recognizer().error).toMatch(/does not load|ended while it loaded/);
  });
});
