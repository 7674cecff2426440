import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
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

  describe('whose folder somebody takes away meanwhile', () => {
    const LINE = { track: 'room', start_ms: 0, end_ms: 500, text: 'Words.', confidence: null, language: 'en', samples: [0, 8000], model: 'm' } as const; // biome-ignore format: one line
    const told = () => kit.events.flatMap((event) => (event.type === 'warning' ? [event.warning.code] : []));
    async function recording() {
      const started = await kit.recorder.start(startRequest({ room_file: file('call.wav'), call_file: file('room.wav') }));
      const session = await kit.store.get(started.id);
      await session.appendLine({ ...LINE, samples: [0, 8000] });
      await session.appendEdit({ op: 'name', track: 'room', speaker: 'Ana' });
      await until(() => (kit.recorder.live()?.elapsed_ms ?? 0) > 700, 'some of it');
      return { started, session };
    }
    async function expectWhole({ started, session }: Awaited<ReturnType<typeof recording>>) {
      for (const [track, name, seconds] of [
        ['room', 'call.wav', 3],
        ['call', 'room.wav', 2],
      ] as const) {
        // biome-ignore format: a table
        const { samples, declared } = await readTrack(started.dir, track);
        expect({ track, declared, length: samples.length }).toEqual({ track, declared: seconds * 16_000, length: seconds * 16_000 });
        const source = await readFile(file(name));
        expect(
          (await readFile(path.join(started.dir, 'audio', `${track}.wav`))).subarray(44).equals(source.subarray(-samples.length * 2)),
        ).toBe(true);
      }
      expect(await session.lines()).toMatchObject([{ speaker: 'Ana', text: 'Words.' }]);
      expect(JSON.parse(await readFile(path.join(started.dir, 'raw.jsonl'), 'utf8'))).toEqual(LINE);
      expect((await kit.store.get(started.id)).file).toMatchObject({ state: 'transcribing', duration_s: 3, coverage: [] });
    }

    it.each([
      ['removed', (dir: string) => rm(dir, { recursive: true })],
      ['moved', (dir: string) => rename(dir, `${dir}-moved`)],
      ['emptied of its audio', (dir: string) => rm(path.join(dir, 'audio'), { recursive: true })],
      ['emptied of one track', (dir: string) => rm(path.join(dir, 'audio', 'room.wav'))],
      ['moved with all others', (dir: string) => rename(path.dirname(dir), `${path.dirname(dir)}-moved`)],
      ['emptied of its lines', (dir: string) => rm(path.join(dir, 'raw.jsonl'))],
    ])('%s: it is made again with everything, and that is told', async (_, take) => {
      const one = await recording();
      await take(one.started.dir);
      await until(() => told().includes('folder_gone'), 'the warning');
      expect(kit.recorder.warnings()).toMatchObject([{ code: 'folder_gone', hint: expect.stringContaining('ambientctl delete') }]);
      await over();
      await expectWhole(one);
      expect(one.session.file.warnings).toMatchObject([{ code: 'folder_gone' }]);
      expect(kit.recorder.warnings()).toEqual([]);
    });

    it('and that cannot be made again: it goes on into the open files, and is whole as soon as it can', async () => {
      const one = await recording();
      await rename(one.started.dir, `${one.started.dir}-moved`);
      await writeFile(one.started.dir, 'in the way');
      await until(() => told().includes('folder_gone'), 'the warning');
      expect(kit.recorder.warnings()[0]?.message).toContain('Recording goes on into the open files');
      expect(kit.recorder.live()).not.toBeNull();
      await rm(one.started.dir);
      await over();
      await expectWhole(one);
    });
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
