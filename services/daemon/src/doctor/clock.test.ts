import { describe, expect, it } from 'vitest';
import { ClockWatch } from './clock.js';

const START = Date.UTC(2026, 10, 30, 16, 8);
const HOUR = 3_600_000;

/** A clock that tests turn. */
function turnable() {
  const time = { wall: START, boot: 1000 };
  const clock = { now: () => new Date(time.wall), monotonicMs: () => time.boot, sinceBootMs: () => time.boot };
  const watch = new ClockWatch(clock);
  watch.start();
  return { time, watch };
}

describe('ClockWatch', () => {
  it('takes time that passes, a night asleep included, for what it is', () => {
    const { time, watch } = turnable();
    time.wall += 9 * HOUR;
    time.boot += 9 * HOUR;
    expect(watch.check().status).toBe('ok');
  });

  it.each([
    [HOUR, /set forward by 60 min/],
    [-2 * HOUR, /set back by 2 h/],
    [45_000, /set forward by 45 s/],
  ])('names a step of %i ms, and that nothing is lost by it', (step, words) => {
    const { time, watch } = turnable();
    time.wall += 60_000 + step;
    time.boot += 60_000;
    const { status, detail, fix } = watch.check();
    expect(status).toBe('warning');
    expect(detail).toMatch(words);
    expect(fix).toMatch(/time is right.*daemon restart/);
  });

  it('does not mind a clock that the network set right by a second', () => {
    const { time, watch } = turnable();
    time.wall += 1200;
    expect(watch.check().status).toBe('ok');
  });

  it('names a clock that was never set', () => {
    const { time, watch } = turnable();
    time.wall = 0;
    expect(watch.check()).toMatchObject({ status: 'failure', detail: expect.stringMatching(/believes that it is 19(70|69)/) });
  });
});
