import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../platform/clock.js';
import { silentLogger } from '../platform/logger.js';
import { AuditLog } from './audit.js';
import { Operations } from './operations.js';

let dir: string;
let audit: AuditLog;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'amb-'));
  audit = new AuditLog(dir, systemClock);
  await audit.start();
});
afterEach(async () => {
  await audit.stop();
  await rm(dir, { recursive: true, force: true });
});

const outcomes = async (): Promise<string[]> => (await audit.tail(10)).map(({ outcome }) => outcome);

test('the started entry is there before the work, and the outcome after it', async () => {
  const operations = new Operations(audit, silentLogger());
  expect(await operations.run('update_session', outcomes)).toEqual(['started']);
  expect(await outcomes()).toEqual(['started', 'succeeded']);
});

test('work that throws is audited as failed, and its error is the caller’s', async () => {
  const operations = new Operations(audit, silentLogger());
  await expect(operations.run('update_session', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await outcomes()).toEqual(['started', 'failed']);
});

test('nothing is done when it cannot be recorded first', async () => {
  await audit.stop();
  let done = false;
  const operations = new Operations(audit, silentLogger());
  await expect(
    operations.run('update_session', async () => {
      done = true;
    }),
  ).rejects.toThrow('The audit log cannot be written, so nothing was done.');
  expect(done).toBe(false);
});

test('stop waits for work that has begun', async () => {
  const operations = new Operations(audit, silentLogger());
  let done = false;
  const work = operations.run('update_session', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    done = true;
  });
  await operations.stop();
  expect(done).toBe(true);
  await work;
});
