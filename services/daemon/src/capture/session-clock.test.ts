import { describe, expect, it } from 'vitest';
import { SessionClock } from './session-clock.js';

/** A clock whose three hands a test moves one by one. */
function handClock(options: { boot: boolean }) {
  let mono = 5000;
  let wall = Date.parse('2026-03-29T01:59:00+01:00');
  let boot = 100_000;
  return {
    clock: { now: () => new Date(wall), monotonicMs: () => mono, ...(options.boot ? { sinceBootMs: () => boot } : {}) },
    pass(ms: number) {
      mono += ms;
      wall += ms;
      boot += ms;
    },
    sleep(ms: number) {
      wall += ms;
      boot += ms;
    },
    step(ms: number) {
      wall += ms;
    },
  };
}

describe('SessionClock', () => {
  it('counts sleep, so that what is heard after it stands at its true time', () => {
    const hands = handClock({ boot: true });
    const clock = new SessionClock(hands.clock, 'linux');
    const start = clock.nowMs();
    hands.pass(1000);
    expect(clock.check()).toBeNull();
    hands.sleep(600_000);
    hands.pass(250);
    expect(clock.check()).toEqual({ wallMs: 600_250 });
    expect(clock.nowMs() - start).toBe(601_250);
    hands.pass(1000);
    expect(clock.check()).toBeNull();
  });

  it('does not move with a step of the wall clock, forward or back, and takes it for no sleep', () => {
    const hands = handClock({ boot: true });
    const clock = new SessionClock(hands.clock, 'linux');
    const start = clock.nowMs();
    for (const step of [3_600_000, -7_200_000, 12_000]) {
      hands.step(step);
      hands.pass(250);
      expect(clock.check()).toBeNull();
    }
    expect(clock.nowMs() - start).toBe(750);
  });

  it('takes a jump for sleep where nothing tells it from a step, but adds no time for it', () => {
    const hands = handClock({ boot: false });
    const clock = new SessionClock(hands.clock, 'linux');
    const start = clock.nowMs();
    hands.sleep(60_000);
    hands.pass(250);
    expect(clock.check()).not.toBeNull();
    expect(clock.nowMs() - start).toBe(250);
  });

  it('sees sleep on a Mac, whose monotonic clock counts it, by a tick that comes late', () => {
    const hands = handClock({ boot: true });
    const clock = new SessionClock(hands.clock, 'darwin');
    hands.pass(250);
    expect(clock.check()).toBeNull();
    hands.pass(3_600_000);
    expect(clock.check()).toEqual({ wallMs: 3_600_000 });
  });
});
