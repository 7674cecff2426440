import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../audio/kit.js';
import { runHere } from './support/ambientctl.js';

const ROOM = fileURLToPath(new URL('../fixtures/conversation/room.wav', import.meta.url));
const LIMIT_MB = 120;

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'ami-'));
});
afterEach(async () => {
  await runHere(home, ['daemon', 'stop']);
  rmSync(home, { recursive: true, force: true });
});

it.skipIf(process.platform !== 'linux')('a daemon that has done its work unloads the recognizer and holds little memory', async () => {
  const env = { AMBIENT_TRANSCRIPTION_IDLE_UNLOAD_SECONDS: '1' };
  for (const args of [
    ['import', ROOM, '--wait'],
    ['search', 'migration'],
    ['show', 'last'],
  ])
    expect(await runHere(home, args, { env })).toMatchObject({ code: 0 });
  const client = new AmbientClient(homePaths(home, process.getuid?.() ?? 0).controlSocket);
  await until(async () => (await client.call('status', {})).recognizer.state === 'unloaded', 'the recognizer to be unloaded');
  const { pid, recognizer } = await client.call('status', {});
  expect(recognizer.pid).toBeNull();
  expect(privateMB(pid)).toBeLessThan(LIMIT_MB);
});

/** Memory that the process shares with no other, MB. */
function privateMB(pid: number): number {
  const rows = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm);
  return [...rows].reduce((sum, row) => sum + Number(row[1]) / 1000, 0);
}
