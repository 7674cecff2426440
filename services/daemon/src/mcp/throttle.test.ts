import { expect, test } from 'vitest';
import { GuessThrottle } from './throttle.js';

test('a few wrong tokens are answered at once, a stream of them slower and slower, and a pause heals', () => {
  let ms = 0;
  const throttle = new GuessThrottle({ now: () => new Date(ms), monotonicMs: () => ms });
  const delays = Array.from({ length: 1000 }, () => {
    ms += 1;
    return throttle.failed();
  });
  expect(delays.slice(0, 3)).toEqual([0, 0, 0]);
  expect(delays.slice(3, 6)).toEqual([100, 200, 400]);
  expect(delays.at(-1)).toBe(30_000);
  ms += 10 * 60_000;
  expect(throttle.failed()).toBe(0);
});
