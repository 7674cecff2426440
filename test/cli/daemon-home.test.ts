import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holderOf } from '../../packages/cli/src/daemon/holder.js';
import { stopDaemon } from '../../packages/cli/src/daemon/stop.js';
import { until } from '../audio/kit.js';
import { type Ended, runHere } from './support/ambientctl.js';

const ROOM = fileURLToPath(new URL('../fixtures/conversation/room.wav', import.meta.url));

let base: string;
let home: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'amh-'));
  home = path.join(base, 'h');
});
afterEach(async () => {
  await runHere(home, ['daemon', 'stop']);
  rmSync(base, { recursive: true, force: true });
});

const cli = (...args: string[]): Promise<Ended> => runHere(home, args, { env: { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny' } });
const ok = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await cli(...args);
  if (code !== 0) throw new Error(`ambientctl ${args.join(' ')}: ${stderr}`);
  return stdout;
};

const daemon = () => {
  const paths = homePaths(home, process.getuid?.() ?? 0);
  return { paths, client: new AmbientClient(paths.controlSocket) };
};

describe('a real daemon and its home', () => {
  it('works in a home with any characters in its path', async () => {
    home = path.join(base, 'a:"b" *?<c>|\\d\'e %n ü 会 $(f)');
    mkdirSync(home);
    await ok('import', ROOM, '--wait');
    expect(await ok('show', 'last')).toMatch(/weekend/i);
    expect(await ok('search', 'weekend')).toContain('«');
    expect((await ok('daemon', 'logs')).length).toBeGreaterThan(0);
  });

  it('makes its sockets again when their folder is deleted, and goes on with what it does', async () => {
    await ok('mcp', 'enable');
    await ok('start', '--room-file', ROOM);
    const { paths, client } = daemon();
    const seen = client.events()[Symbol.asyncIterator]();
    await seen.next();
    rmSync(paths.run, { recursive: true });
    const before = await holderOf(home);
    expect(before).toBeGreaterThan(0);
    await until(async () => (await client.isAlive()) && existsSync(paths.mcpSocket), 'both sockets');
    for (const file of [paths.run, paths.controlSocket, paths.mcpSocket]) expect(statSync(file).mode & 0o077).toBe(0);
    expect(await client.call('status', {})).toMatchObject({ pid: before, live: { name: null } });
    // Who was connected still is.
    expect((await seen.next()).done).toBe(false);
    await seen.return?.(undefined);
    rmSync(paths.run, { recursive: true });
    await until(() => client.isAlive(), 'the socket a second time');
    await ok('stop');
    expect(await ok('daemon', 'stop')).toContain(`${before}`);
    expect(existsSync(paths.controlSocket)).toBe(false);
  });

  it('is named while it does not answer, and ended by a signal when that lasts', async () => {
    await ok('daemon', 'start');
    const { paths, client } = daemon();
    const { pid } = await client.call('status', {});
    process.kill(pid, 'SIGSTOP');
    rmSync(paths.run, { recursive: true });
    for (const verb of [['daemon', 'status'], ['status'], []]) {
      const { code, stdout } = await cli(...verb);
      expect(stdout).toMatch(new RegExp(`The daemon \\(pid ${pid}\\) runs and does not answer.*ambientctl daemon stop`));
      expect(code).toBe(verb.length === 0 ? 0 : 1);
      expect(JSON.parse((await cli(...verb, '--json')).stdout)).toMatchObject({ running: true, pid, answers: false });
    }
    const notes: string[] = [];
    const stopped = stopDaemon({ client, home, note: (text) => notes.push(text), silentPatienceMs: 100 });
    await until(() => notes.length === 2, 'the signal');
    process.kill(pid, 'SIGCONT');
    expect(await stopped).toBe(pid);
    expect(await holderOf(home)).toBeUndefined();
    expect(await stopDaemon({ client, home, note: () => undefined })).toBeNull();
  });

  it.each(['removed', 'moved'])('ends when its home is %s, and records no further', async (how) => {
    await ok('start', '--room-file', ROOM, '--pace', 'real');
    const { paths, client } = daemon();
    const { pid } = await client.call('status', {});
    if (how === 'moved') renameSync(home, path.join(base, 'elsewhere'));
    else rmSync(home, { recursive: true });
    await until(() => !runs(pid), 'the end of the daemon');
    expect(existsSync(paths.controlSocket)).toBe(false);
  });
});

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
