import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ambientctl, ended, runHere, startAmbientctl, temporaryHome } from './support/ambientctl.js';

const FIXTURES = fileURLToPath(new URL('../fixtures/conversation/', import.meta.url));
const BOTH = ['--room-file', path.join(FIXTURES, 'room.wav'), '--call-file', path.join(FIXTURES, 'call.wav')];

interface Line {
  readonly track: string;
  readonly start_ms: number;
  readonly text: string;
}

let home: string;
let remove: () => void;
let work: string;
beforeAll(() => {
  ({ home, remove } = temporaryHome());
  work = mkdtempSync(path.join(tmpdir(), 'amw-'));
});
afterAll(async () => {
  await ambientctl(home, ['daemon', 'stop']);
  remove();
  rmSync(work, { recursive: true });
});

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runHere(home, [...args, '--json'], { cwd: FIXTURES });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

async function pid(): Promise<number> {
  return (await json<{ pid: number }>('daemon', 'status')).pid;
}

describe('ambientctl and a real daemon', () => {
  it('start by themselves, once, however many ask at the same time', async () => {
    const asked = await Promise.all([1, 2, 3].map(() => ambientctl(home, ['sessions', '--json'])));
    expect(asked).toEqual([1, 2, 3].map(() => ({ code: 0, stdout: '[]\n', stderr: '' })));
  });

  it('a recording of two files is followed to its end, and then shown, searched and exported', async () => {
    const { code, stdout } = await ambientctl(home, ['start', ...BOTH, '--pace', 'fast', '--follow', '--name', 'Wöchentlich 会議']);
    expect(code).toBe(0);
    const followed = stdout.trim().split('\n');
    expect(followed[0]).toMatch(/^\d\d:\d\d {2}(room|call) {2}\S/);

    const lines = await json<Line[]>('show', 'last');
    expect(followed).toHaveLength(lines.length);
    expect(new Set(lines.map(({ track }) => track))).toEqual(new Set(['room', 'call']));
    expect(lines.map(({ text }) => text).join(' ')).toMatch(/migration/i);

    const [row] = await json<{ id: string; name: string; state: string }[]>('sessions');
    expect(row).toMatchObject({ name: 'Wöchentlich 会議', state: 'done' });
    expect(await json('search', '会議')).toMatchObject({ total: 1 });
    expect(await json('search', 'migration', '--track', 'room')).toMatchObject({ sessions: [{ id: row?.id }] });

    const file = path.join(work, 'out.json');
    await json('export', 'last', '--format', 'json', '--out', file);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ lines: expect.any(Array) });
  });

  it('what is struck is gone from text and search, and stays in the coverage', async () => {
    const before = await json<Line[]>('show', 'last');
    const last = before.at(-1);
    await json('strike', 'last', '--from', `${(last?.start_ms ?? 0) / 1000}`, '--to', '1:00');
    const after = await json<Line[]>('show', 'last');
    expect(after.map(({ text }) => text)).not.toContain(last?.text);
    expect(await json('show', 'last', '--coverage')).toMatchObject({
      gaps: expect.arrayContaining([expect.objectContaining({ reason: 'struck' })]),
    });
  });

  it('a follower outlives a killed daemon, with every line once and in order', async () => {
    await json('start', ...BOTH, '--seconds', '9');
    const follower = startAmbientctl(home, ['follow', 'live', '--json']);
    const end = ended(follower);
    await new Promise<void>((resolve) => follower.stdout.once('data', () => resolve()));
    process.kill(await pid(), 'SIGKILL');
    await json('daemon', 'start');
    const { code, stdout } = await end;
    expect(code).toBe(0);
    const followed = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Line);
    const shown = await json<Line[]>('show', 'last');
    expect(followed).toMatchObject(shown);
    expect((await json<{ state: string }[]>('sessions'))[0]).toMatchObject({ state: 'interrupted' });
  });

  it('bad files and sessions get one line and leave nothing behind', async () => {
    writeFileSync(path.join(work, 'text.wav'), 'this is no audio');
    const before = await json<unknown[]>('sessions');
    for (const args of [
      ['import', 'text.wav', '--wait'],
      ['import', 'missing.wav', '--wait'],
      ['start', '--room-file', 'missing.wav'],
      ['show', '../x'],
      ['show', 'zzz'],
      ['delete', '..', '--yes'],
      ['follow', 'live'],
    ]) {
      const { code, stdout, stderr } = await runHere(home, args, { cwd: work });
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(/^ambientctl: [^\n]+\. [^\n]+\n$/);
    }
    expect(await json('sessions')).toEqual(before);
  });

  it('imports several files and waits for all of them', async () => {
    const imports = await json<{ id: string; file: string; state: string }[]>('import', 'room.wav', 'call.wav', '--wait');
    expect(imports).toMatchObject([
      { file: path.join(FIXTURES, 'room.wav'), state: 'done' },
      { file: path.join(FIXTURES, 'call.wav'), state: 'done' },
    ]);
    for (const { id } of imports) expect((await json<Line[]>('show', id)).length).toBeGreaterThan(0);
  });

  it('renames, tags, names and deletes', async () => {
    await json('rename', 'last', 'Neu');
    await json('tag', 'last', 'work');
    await json('speaker', 'last', 'Priya', '--segments', '1');
    const { total } = await json<{ total: number }>('search', 'neu', '--tag', 'work');
    expect(total).toBe(1);
    expect((await json<{ speaker: string }[]>('show', 'last'))[0]?.speaker).toBe('Priya');
    const before = await json<{ id: string }[]>('sessions');
    const { id } = await json<{ id: string }>('delete', 'last', '--yes');
    expect((await json<{ id: string }[]>('sessions')).map((row) => row.id)).toEqual(
      before.map((row) => row.id).filter((row) => row !== id),
    );
  });

  it('keeps settings across restarts, and what was said out of the log', async () => {
    await json('config', 'log.level', 'debug');
    await json('daemon', 'stop');
    expect(await json('config', 'log.level')).toMatchObject({ value: 'debug', source: 'file' });
    const { stderr, code } = await runHere(home, ['config', 'log.level', 'loud']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^ambientctl: log\.level [^\n]*debug, info, warn, error[^\n]*\n$/);
    const entries = await json<object[]>('daemon', 'logs', '-n', '1000');
    expect(entries.length).toBeGreaterThan(0);
    expect(JSON.stringify(entries)).not.toMatch(/migration/i);
  });

  it('runs in the foreground until Ctrl-C', async () => {
    await json('daemon', 'stop');
    const child = startAmbientctl(home, ['daemon', 'run']);
    const end = ended(child);
    while ((await runHere(home, ['daemon', 'status'])).code !== 0) await sleep(50);
    const daemon = await pid();
    child.kill('SIGINT');
    expect((await end).code).toBe(0);
    expect(() => process.kill(daemon, 0)).toThrow();
  });
});
