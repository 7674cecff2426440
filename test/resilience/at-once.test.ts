import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOTH, Daemon, until, writeTalk } from './kit.js';

const MINUTES = 20;

describe('several things at once', () => {
  let work: string;
  let daemon: Daemon;
  beforeAll(() => {
    work = mkdtempSync(path.join(os.tmpdir(), 'amo-'));
    daemon = new Daemon();
  });
  afterAll(async () => {
    await daemon.remove();
    rmSync(work, { recursive: true });
  });

  it('two daemons on one home: one runs, the other says who holds it', async () => {
    const other = new Daemon({}, daemon.paths.home);
    const first = daemon.launch();
    const second = other.launch();
    await until(() => daemon.client.isAlive(), 'one of them to answer');
    expect(await Promise.race([first, second])).toEqual({ code: 1, signal: null });
    const { pid } = await daemon.status();
    const [winner, loser] = pid === daemon.pid ? [daemon, other] : [other, daemon];
    expect(loser.output).toMatch(new RegExp(`^ambientd: Another daemon holds \\S+( \\(pid ${pid}\\))?\\. [^\\n]+\\n$`));
    expect(await winner.end()).toMatchObject({ code: 0 });
  });

  it('several starts of a recording: one begins, and all are told which', async () => {
    await daemon.start();
    const replies = await Promise.all([1, 2, 3, 4, 5].map((n) => daemon.client.call('start', { body: { ...BOTH, name: `Start ${n}` } })));
    expect(new Set(replies.map(({ id }) => id)).size).toBe(1);
    expect(replies.filter(({ already_running }) => !already_running)).toHaveLength(1);
    const stops = await Promise.all([1, 2].map(() => daemon.stopRecording().catch((error: { code?: string }) => error.code ?? '')));
    expect(stops.filter((stop) => typeof stop === 'object')).not.toEqual([]);
    expect((await daemon.client.call('sessions', { query: {} })).total).toBe(1);
    await daemon.finished(replies[0]?.id ?? '');
  });

  it('a recording and the removal of its folder: status says so, and the text goes on', async () => {
    const id = await daemon.record(BOTH);
    await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 1000, 'a second');
    rmSync(daemon.file(id), { recursive: true });
    const warned = await until(async () => {
      const { warnings, live } = await daemon.status();
      return live !== null && warnings.length > 0 && warnings;
    }, 'the warning');
    expect(warned).toMatchObject([{ code: 'folder_gone', hint: expect.stringContaining(`ambientctl delete ${id}`) }]);
    expect(daemon.events).toContainEqual(expect.objectContaining({ type: 'warning', session: id }));
    await daemon.heard(id, 1);
    const { duration_s } = await daemon.stopRecording();
    expect((await daemon.finished(id)).warnings).toMatchObject([{ code: 'folder_gone' }]);
    expect(daemon.rawLines(id)[0]?.text).toMatch(/migration/i);
    expect((await daemon.track(id, 'room')).samples.length).toBeGreaterThan(duration_s * 16_000 - 8000);
    expect((await daemon.status()).warnings).toEqual([]);
  });

  it('a recording while a long import is transcribed: its lines come first', async () => {
    const talk = path.join(work, 'talk.wav');
    await writeTalk(talk, MINUTES * 2);
    const { imports } = await daemon.client.call('import', { body: { files: [talk] } });
    const imported = imports[0]?.id ?? '';
    await daemon.heard(imported, 2);
    const id = await daemon.record(BOTH);
    const lags: number[] = [];
    await until(async () => {
      const { live, lag_s } = await daemon.status();
      lags.push(lag_s);
      return (live?.elapsed_ms ?? 0) > 8000;
    }, 'eight seconds');
    // `lag_s` is the recording's own while there is one: the import's is many minutes.
    expect(Math.max(...lags)).toBeLessThan(12);
    await daemon.heard(id, 2);
    await daemon.stopRecording();
    await daemon.finished(id);
    const { live, imports: after, lag_s } = await daemon.status();
    expect({ live, imports: after }).toMatchObject({ live: null, imports: [{ id: imported, state: 'transcribing' }] });
    expect(lag_s).toBeGreaterThan(60);
    // The import went on meanwhile, and goes on now.
    const lines = (await daemon.lines(imported)).length;
    await daemon.heard(imported, lines + 1);
  });
});
