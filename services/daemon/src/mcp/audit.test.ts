import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../platform/clock.js';
import { AuditLog } from './audit.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'amb-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function withLog<T>(use: (log: AuditLog) => Promise<T>): Promise<T> {
  const log = new AuditLog(dir, systemClock);
  await log.start();
  try {
    return await use(log);
  } finally {
    await log.stop();
  }
}

test('entries hold operation, tool, outcome and time, and nothing else', async () => {
  await withLog(async (log) => {
    const operation = await log.started('delete_session');
    await log.finished(operation, 'delete_session', 'failed');
    const lines = (await readFile(log.file, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(Object.keys(JSON.parse(line) as object).sort()).toEqual(['at', 'operation', 'outcome', 'tool']);
    expect(await log.tail(10)).toMatchObject([
      { operation, outcome: 'started' },
      { operation, outcome: 'failed' },
    ]);
  });
});

test('the file is private, also when it was not', async () => {
  await writeFile(path.join(dir, 'audit.jsonl'), '');
  await chmod(path.join(dir, 'audit.jsonl'), 0o644);
  await withLog(async (log) => expect((await stat(log.file)).mode & 0o777).toBe(0o600));
});

test.each([1, 5000])('a torn last line of %s bytes is cut at start and the next entry is whole', async (torn) => {
  const first = await withLog((log) => log.started('stop_recording'));
  await appendFile(path.join(dir, 'audit.jsonl'), 'x'.repeat(torn));
  await withLog(async (log) => {
    const second = await log.started('start_recording');
    expect((await log.tail(10)).map(({ operation }) => operation)).toEqual([first, second]);
  });
});

test('tail gives the last entries, oldest first', async () => {
  await withLog(async (log) => {
    const operations: string[] = [];
    for (let i = 0; i < 30; i++) operations.push(await log.started('update_session'));
    expect((await log.tail(7)).map(({ operation }) => operation)).toEqual(operations.slice(-7));
    expect(await log.tail(1000)).toHaveLength(30);
  });
});
