import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ambientctl } from '../cli/support/ambientctl.js';
import { Daemon, ROOM, readWav, until, writeWav } from './kit.js';

const PRELOAD = new URL('set-clock.mjs', import.meta.url).href;

describe('a wall clock that is set', () => {
  let work: string;
  let daemon: Daemon;
  let short: string;
  const clock = (): string => path.join(work, 'offset');
  /** Sets the daemon's wall clock to that time. */
  const setTo = (time: string): void => writeFileSync(clock(), String(Date.parse(time) - Date.now()));
  const record = async (): Promise<string> => {
    const id = await daemon.record({ room_file: short, pace: 'fast' });
    await until(async () => (await daemon.status()).live === null, 'the end of the recording');
    return id;
  };
  const listed = async (): Promise<string[]> => (await daemon.client.call('sessions', { query: {} })).sessions.map(({ id }) => id);

  beforeAll(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'amc-'));
    short = path.join(work, 'short.wav');
    await writeWav(short, (await readWav(ROOM)).samples.subarray(0, 16_000));
  });
  afterAll(() => rmSync(work, { recursive: true }));
  beforeEach(() => {
    daemon = new Daemon({ TZ: 'Europe/Berlin', SET_CLOCK: clock(), NODE_OPTIONS: `--import ${PRELOAD}` });
  });
  afterEach(() => daemon.remove());

  it('by the end of summer time: the hour that comes twice makes two sessions, in their true order', async () => {
    setTo('2026-10-25T02:30:10+02:00');
    await daemon.start();
    const summer = await record();
    setTo('2026-10-25T02:10:10+01:00');
    const winter = await record();
    setTo('2026-10-25T02:30:10+01:00');
    const again = await record();
    expect([summer, winter, again]).toEqual(['2026-10-25T0230', '2026-10-25T0210', '2026-10-25T0230-02']);
    expect(await listed()).toEqual([again, winter, summer]);
    expect(daemon.sessionFile(summer).started_at).toMatch(/T02:30:1\d\.\d{3}\+02:00$/);
    expect(daemon.sessionFile(winter).started_at).toMatch(/T02:10:1\d\.\d{3}\+01:00$/);
    for (const id of await listed()) expect(daemon.sessionFile(id).duration_s).toBe(1);
  });

  it('back by hours: the newest session stays the newest, over a restart too', async () => {
    setTo('2026-06-01T12:00:10+02:00');
    await daemon.start();
    const before = await record();
    setTo('2026-06-01T09:00:10+02:00');
    const after = await record();
    const third = await record();
    expect([before, after, third]).toEqual(['2026-06-01T1200', '2026-06-01T0900', '2026-06-01T0900-02']);
    expect(await listed()).toEqual([third, after, before]);
    expect(daemon.sessionFile(after).started_at).toMatch(/^2026-06-01T09:00/);
    await daemon.end('SIGKILL');
    await daemon.start();
    expect(await listed()).toEqual([third, after, before]);
    expect((await ambientctl(daemon.paths.home, ['show', 'last'])).stdout).toContain(third);
  });

  it('during a recording: its length and its end are those of the sound', async () => {
    setTo('2026-06-01T12:00:10+02:00');
    await daemon.start();
    const id = await daemon.record({ room_file: ROOM });
    await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 1000, 'a second');
    setTo('2026-06-01T10:00:00+02:00');
    await sleep(1000);
    expect((await daemon.status()).live?.elapsed_ms).toBeLessThan(20_000);
    setTo('2026-06-01T15:00:00+02:00');
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
