import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from './clock.js';
import { MAX_FAILED_STARTS, START_WINDOW_MS, StartGuard } from './start-guard.js';

let home: string;
let now = Date.parse('2026-11-30T16:08:00Z');
const clock: Clock = { now: () => new Date(now), monotonicMs: () => now };

beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'sg-'));
});
afterEach(() => rm(home, { recursive: true }));

async function failTimes(count: number): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (let i = 0; i < count; i++) {
    now += 10_000;
    answers.push(await new StartGuard(home, clock).enter());
  }
  return answers;
}

describe('StartGuard', () => {
  it('lets five starts in a row pass and keeps the sixth down', async () => {
    expect(await failTimes(6)).toEqual([true, true, true, true, true, false]);
  });

  it('stays down however often it is asked, until the window has passed', async () => {
    await failTimes(MAX_FAILED_STARTS);
    expect(await failTimes(3)).toEqual([false, false, false]);
    now += START_WINDOW_MS;
    expect(await new StartGuard(home, clock).enter()).toBe(true);
  });

  it('does not count starts that ended in a clean stop', async () => {
    for (let i = 0; i < 8; i++) {
      const guard = new StartGuard(home, clock);
      expect(await guard.enter()).toBe(true);
      guard.ready();
      await guard.stop();
    }
    expect(await readdir(home)).toEqual([]);
  });

  it.each(['', 'null', '{"starts":"x"}', '{"starts":["yesterday",7]}'])('takes a damaged file (%j) for no failures', async (text) => {
    await writeFile(path.join(home, 'service-starts.json'), text);
    expect(await failTimes(6)).toEqual([true, true, true, true, true, false]);
  });

  it('does not count starts of a clock that has been set back since', async () => {
    await failTimes(MAX_FAILED_STARTS);
    now -= 3_600_000;
    expect(await new StartGuard(home, clock).enter()).toBe(true);
  });
});
