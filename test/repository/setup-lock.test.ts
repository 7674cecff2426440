import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const lock = pathToFileURL(path.resolve(import.meta.dirname, '../../tools/lib/lock.mjs')).href;
let scratch = '';
let children: ChildProcess[] = [];

beforeEach(() => {
  scratch = mkdtempSync(path.join(tmpdir(), 'lock-'));
  writeFileSync(path.join(scratch, 'log'), '');
  children = [];
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** A process that works under the lock: says `<name> in`, works for `ms`, says `<name> out`. */
function worker(name: string, ms: number): ChildProcess {
  const code = `
    import { appendFileSync } from 'node:fs';
    import { exclusively } from '${lock}';
    const log = (text) => appendFileSync('${path.join(scratch, 'log')}', '${name} ' + text + '\\n');
    await exclusively('${scratch}', async () => {
      log('in');
      console.log('in');
      await new Promise((resolve) => setTimeout(resolve, ${ms}));
      log('out');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

const log = (): string[] => readFileSync(path.join(scratch, 'log'), 'utf8').trim().split('\n');

test('set-ups that start together run one after the other', async () => {
  const workers = ['a', 'b', 'c'].map((name) => worker(name, 150));
  await Promise.all(workers.map((child) => once(child, 'exit')));
  const order = log().map((line) => line.slice(0, 1));
  expect(order).toHaveLength(6);
  for (const i of [0, 2, 4]) expect(order[i]).toBe(order[i + 1]);
});

test('a set-up that was killed blocks nobody', async () => {
  const killed = worker('a', 60_000);
  if (killed.stdout) await once(killed.stdout, 'data');
  const next = worker('b', 10);
  killed.kill('SIGKILL');
  const [code] = await once(next, 'exit');
  expect(code).toBe(0);
  expect(log()).toEqual(['a in', 'b in', 'b out']);
});
