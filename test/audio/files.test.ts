import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CaptureKit, openCaptureKit, readTrack, startRequest, strength, until } from './kit.js';
import { tone } from './speech.js';

describe('recording from files', () => {
  let dir: string;
  let kit: CaptureKit;
  const file = (name: string): string => path.join(dir, name);
  const over = (): Promise<void> => until(() => kit.recorder.live() === null, 'the recording to end by itself');

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'play-'));
    await tone(file('room.wav'), 300, 2);
    await tone(file('call.wav'), 1200, 3);
    await tone(file('long.wav'), 300, 600);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    kit = await openCaptureKit();
  });
  afterEach(() => kit.stop());

  it('plays both files to their ends at real pace and stops by itself', async () => {
    const began = performance.now();
    const started = await kit.recorder.start(startRequest({ room_file: file('room.wav'), call_file: file('call.wav') }));
    await over();
    expect(performance.now() - began).toBeGreaterThan(2900);
    const { file: session } = await kit.store.get(started.id);
    expect(session).toMatchObject({ state: 'transcribing', duration_s: 3, warnings: [], coverage: [] });
    expect(session.tracks.room).toMatchObject({ source: 'file', recorder: null, device: file('room.wav'), offset_ms: 0, samples: 32_000 });
    expect(session.tracks.call).toMatchObject({ source: 'file', offset_ms: 0, samples: 48_000 });
    const { samples } = await readTrack(started.dir, 'call');
    expect(strength(samples, 1200)).toBeGreaterThan(15_000);
  });

  it('is as fast as the disk when asked to be, and loses no sample of ten minutes', async () => {
    const began = performance.now();
    const started = await kit.recorder.start(startRequest({ room_file: file('long.wav'), pace: 'fast' }));
    expect(started.tracks).toEqual(['room']);
    await over();
    expect(performance.now() - began).toBeLessThan(60_000);
    expect((await readTrack(started.dir, 'room')).samples.length).toBe(600 * 16_000);
  });

  it('stops after exactly the seconds that were asked for', async () => {
    const started = await kit.recorder.start(startRequest({ room_file: file('long.wav'), pace: 'fast', seconds: 1.5 }));
    await over();
    const { file: session } = await kit.store.get(started.id);
    expect(session).toMatchObject({ duration_s: 1.5, warnings: [] });
  });

  it('feeds grow while it records and end after the session is closed', async () => {
    const started = await kit.recorder.start(startRequest({ room_file: file('room.wav') }));
    const feed = kit.feeds.get(started.id)?.[0];
    await until(() => (feed?.available() ?? 0) > 8000, 'the first half second');
    expect(feed?.ended()).toBe(false);
    let stateAtEnd: string | undefined;
    const session = await kit.store.get(started.id);
    feed?.subscribe(() => {
      if (feed.ended()) stateAtEnd ??= session.file.state;
    });
    await over();
    expect(stateAtEnd).toBe('transcribing');
    expect(feed?.available()).toBe(32_000);
  });

  it('mutes a file like a microphone: its time goes on in silence', async () => {
    const started = await kit.recorder.start(startRequest({ room_file: file('room.wav') }));
    await kit.recorder.mute('room', true);
    await until(() => (kit.recorder.live()?.elapsed_ms ?? 0) > 1000, 'a second');
    await kit.recorder.mute('room', false);
    await over();
    const { file: session } = await kit.store.get(started.id);
    expect(session.duration_s).toBe(2);
    expect(session.coverage).toMatchObject([{ track: 'room', reason: 'muted' }]);
    await expect(kit.recorder.mute('room', true)).rejects.toMatchObject({ code: 'not_running' });
  });

  it('fails with the name of a file that is not there, and leaves no session', async () => {
    const request = startRequest({ room_file: file('room.wav'), call_file: file('missing.wav') });
    await expect(kit.recorder.start(request)).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('missing.wav') });
    expect(await kit.store.ids()).toEqual([]);
    expect(kit.events.filter((event) => event.type === 'session')).toEqual([]);
  });

  it('ends a recording cleanly at shut-down and takes no new one', async () => {
    const started = await kit.recorder.start(startRequest({ room_file: file('long.wav') }));
    await until(() => (kit.recorder.live()?.elapsed_ms ?? 0) > 500, 'half a second');
    await kit.recorder.shutdown();
    const { samples, declared } = await readTrack(started.dir, 'room');
    expect(declared).toBe(samples.length);
    expect((await kit.store.get(started.id)).file.state).toBe('transcribing');
    await expect(kit.recorder.start(startRequest({ room_file: file('room.wav') }))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
