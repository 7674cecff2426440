import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { Daemon, ROOM, readWav, until, writeWav } from './kit.js';

const PRELOAD = new URL('set-clock.mjs', import.meta.url).href;

/** A daemon whose wall clock a test sets. */
class SetDaemon extends Daemon {
  readonly #offset: string;
  readonly #short: string;

  constructor(work: string, short: string) {
    const offset = path.join(mkdtempSync(path.join(work, 'c-')), 'offset');
    super({ TZ: 'Europe/Berlin', SET_CLOCK: offset, NODE_OPTIONS: `--import ${PRELOAD}` });
    this.#offset = offset;
    this.#short = short;
  }

  setTo(time: string): void {
    writeFileSync(this.#offset, String(Date.parse(time) - Date.now()));
  }

  async recordShort(): Promise<string> {
    const id = await this.record({ room_file: this.#short, pace: 'fast' });
    await until(async () => (await this.status()).live === null, 'the end of the recording');
    return id;
  }

  async listed(): Promise<string[]> {
    return (await this.client.call('sessions', { query: {} })).sessions.map(({ id }) => id);
  }
}

export const setClock = (): unknown =>
  describe.concurrent('a wall clock that is set', () => {
    let work: string;
    let short: string;
    const opened = ({ onTestFinished }: TestContext): SetDaemon => {
      const daemon = new SetDaemon(work, short);
      onTestFinished(() => daemon.remove());
      return daemon;
    };

    beforeAll(async () => {
      work = mkdtempSync(path.join(os.tmpdir(), 'amc-'));
      short = path.join(work, 'short.wav');
      await writeWav(short, (await readWav(ROOM)).samples.subarray(0, 16_000));
    });
    afterAll(() => rmSync(work, { recursive: true }));

    it('by the end of summer time: the hour that comes twice makes two sessions, in their true order', async (context) => {
      const daemon = opened(context);
      daemon.setTo('2026-10-25T02:30:10+02:00');
      await daemon.start();
      const summer = await daemon.recordShort();
      daemon.setTo('2026-10-25T02:10:10+01:00');
      const winter = await daemon.recordShort();
      daemon.setTo('2026-10-25T02:30:10+01:00');
      const again = await daemon.recordShort();
      expect([summer, winter, again]).toEqual(['2026-10-25T0230', '2026-10-25T0210', '2026-10-25T0230-02']);
      expect(await daemon.listed()).toEqual([again, winter, summer]);
      expect(daemon.sessionFile(summer).started_at).toMatch(/T02:30:1\d\.\d{3}\+02:00$/);
      expect(daemon.sessionFile(winter).started_at).toMatch(/T02:10:1\d\.\d{3}\+01:00$/);
      for (const id of await daemon.listed()) expect(daemon.sessionFile(id).duration_s).toBe(1);
    });

    it('back by hours: the newest session stays the newest, over a restart too', async (context) => {
      const daemon = opened(context);
      daemon.setTo('2026-06-01T12:00:10+02:00');
      await daemon.start();
      const before = await daemon.recordShort();
      daemon.setTo('2026-06-01T09:00:10+02:00');
      const after = await daemon.recordShort();
      const third = await daemon.recordShort();
      expect([before, after, third]).toEqual(['2026-06-01T1200', '2026-06-01T0900', '2026-06-01T0900-02']);
      expect(await daemon.listed()).toEqual([third, after, before]);
      expect(daemon.sessionFile(after).started_at).toMatch(/^2026-06-01T09:00/);
      await daemon.end('SIGKILL');
      await daemon.start();
      expect(await daemon.listed()).toEqual([third, after, before]);
      expect((await runHere(daemon.paths.home, ['show', 'last'])).stdout).toContain(third);
    });

    it('during a recording: its length and its end are those of the sound', async (context) => {
      const daemon = opened(context);
      daemon.setTo('2026-06-01T12:00:10+02:00');
      await daemon.start();
      const id = await daemon.record({ room_file: ROOM });
      await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 1000, 'a second');
      daemon.setTo('2026-06-01T10:00:00+02:00');
      await sleep(1000);
      expect((await daemon.status()).live?.elapsed_ms).toBeLessThan(20_000);
      daemon.setTo('2026-06-01T15:00:00+02:00');
      await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 3000, 'three seconds');
      const { duration_s } = await daemon.stopRecording();
      const file = daemon.sessionFile(id);
      expect(duration_s).toBeCloseTo((await daemon.track(id, 'room')).samples.length / 16_000, 2);
      expect(file).toMatchObject({ coverage: [], warnings: [] });
      const length = (Date.parse(file.ended_at ?? '') - Date.parse(file.started_at)) / 1000;
      expect(Math.abs(length - duration_s)).toBeLessThan(2);
      expect(file.ended_at).toMatch(/^2026-06-01T12:00/);
    });
  });
