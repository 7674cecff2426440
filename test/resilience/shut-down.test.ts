import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOTH, Daemon, type Ending, ROOM, readWav, sameSamples, until, writeTalk } from './kit.js';

/** What a service manager is promised, ms. */
const PROMISED_MS = 10_000;

/** One home through all of it: each start has to cope with what the last end left, and still end in time. */
describe('a daemon that is told to end', () => {
  let work: string;
  let talk: string;
  let daemon: Daemon;
  let live: string;
  let imported: string;
  beforeAll(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'ams-'));
    talk = path.join(work, 'talk.wav');
    await writeTalk(talk, 8);
    daemon = new Daemon();
  });
  afterAll(async () => {
    await daemon.remove();
    rmSync(work, { recursive: true });
  });

  const import_ = async (): Promise<string> => (await daemon.client.call('import', { body: { files: [talk] } })).imports[0]?.id ?? '';
  const inTime = ({ code, ms }: Ending & { ms: number }): void => {
    expect(code).toBe(0);
    expect(ms).toBeLessThan(PROMISED_MS);
  };
  /** Every audio file of every session is what its header says. */
  const expectValidAudio = async (): Promise<void> => {
    for (const id of readdirSync(daemon.paths.sessions))
      for (const name of existsSync(daemon.file(id, 'audio')) ? readdirSync(daemon.file(id, 'audio')) : []) {
        const { samples, declared } = await readWav(daemon.file(id, 'audio', name));
        expect({ id, name, declared }).toEqual({ id, name, declared: samples.length });
      }
  };

  it('while it records: ends the recording first, with every sample that was heard', async () => {
    await daemon.start();
    live = await daemon.record(BOTH);
    await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 3000, 'three seconds');
    const heard = (await daemon.status()).live?.elapsed_ms ?? 0;
    inTime(await daemon.end());
    await expectValidAudio();
    const { samples } = await daemon.track(live, 'room');
    expect(samples.length / 16).toBeGreaterThan(heard - 200);
    expect(sameSamples(samples, (await readWav(ROOM)).samples.subarray(0, samples.length))).toBe(true);
    expect(daemon.sessionFile(live)).toMatchObject({ interrupted_at: null, ended_at: expect.any(String) });
  });

  it('while the library is made anew', async () => {
    for (let i = 1; i < 150; i++) await cp(daemon.file(live), path.join(daemon.paths.sessions, `copy-${i}`), { recursive: true });
    await daemon.start();
    const rebuilding = daemon.client.call('rebuild', { body: {} }).catch((error: unknown) => error);
    await until(() => existsSync(`${daemon.paths.library}.rebuild`), 'the new library');
    inTime(await daemon.end());
    await rebuilding;
    for (let i = 1; i < 150; i++) rmSync(path.join(daemon.paths.sessions, `copy-${i}`), { recursive: true });
  });

  it('while the model loads', async () => {
    await daemon.start();
    imported = await import_();
    await until(async () => (await daemon.status()).recognizer.state === 'loading', 'the model to be loading');
    inTime(await daemon.end());
  });

  it('while it transcribes an import', async () => {
    await daemon.start();
    await daemon.heard(imported, 1);
    inTime(await daemon.end());
    await expectValidAudio();
    expect(['pending', 'transcribing']).toContain(daemon.sessionFile(imported).state);
  });

  it('while a recording is being stopped', async () => {
    await daemon.start();
    const id = await daemon.record(BOTH);
    await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 1000, 'a second');
    const stopping = daemon.stopRecording().catch((error: unknown) => error);
    inTime(await daemon.end());
    await stopping;
    await expectValidAudio();
    expect(daemon.sessionFile(id)).toMatchObject({ interrupted_at: null, ended_at: expect.any(String) });
  });

  it('twice: at once, and what was captured is finished by the next start', async () => {
    await daemon.start();
    const id = await daemon.record(BOTH);
    const kept = await until(async () => {
      const { samples } = await daemon.track(id, 'room');
      return samples.length > 32_000 && samples.length;
    }, 'two seconds on disk');
    daemon.signal('SIGTERM');
    await until(async () => !(await daemon.client.isAlive()), 'the first signal to be taken');
    const { code, ms } = await daemon.end();
    expect(code).toBe(130);
    expect(ms).toBeLessThan(2000);

    await daemon.start();
    expect(existsSync(`${daemon.paths.library}.rebuild`)).toBe(false);
    const { state } = await daemon.finished(id);
    expect(['done', 'interrupted']).toContain(state);
    await expectValidAudio();
    expect((await daemon.track(id, 'room')).samples.length).toBeGreaterThanOrEqual(kept);
  });

  it('loses and doubles nothing through all of these ends', async () => {
    expect((await daemon.finished(live)).warnings).toEqual([]);
    expect((await daemon.finished(imported)).warnings).toEqual([]);
    const undisturbed = await import_();
    await daemon.finished(undisturbed);
    const spoken = (id: string) => daemon.rawLines(id).map(({ samples, text }) => ({ samples, text }));
    expect(spoken(imported)).toEqual(spoken(undisturbed));
    expect(spoken(imported).length).toBeGreaterThan(10);
    expect(await daemon.client.call('search', { query: { q: 'migration' } })).toMatchObject({ unavailable: 0 });
  });
});
