import { expect, test } from 'vitest';
import { CALLS_PER_MINUTE, RateLimits, READ_BYTES_PER_MINUTE, TRUSTED_FACTOR } from './limits.js';

function clockAt() {
  let ms = 1_000_000;
  return { now: () => new Date(ms), monotonicMs: () => ms, pass: (by: number) => (ms += by) };
}
const enabled = { id: 'a', access: 'enabled' } as const;

test.each(['status', 'live', 'read'] as const)('%s calls are limited each on their own, with the seconds to wait', (kind) => {
  const clock = clockAt();
  const limits = new RateLimits(clock);
  for (let i = 0; i < CALLS_PER_MINUTE[kind]; i++) expect(limits.take(enabled, kind)).toBe(0);
  clock.pass(20_000);
  expect(limits.take(enabled, kind)).toBe(40);
  expect(limits.take(enabled, kind === 'live' ? 'read' : 'live')).toBe(0);
  expect(limits.take({ id: 'b', access: 'enabled' }, kind)).toBe(0);
  clock.pass(40_000);
  expect(limits.take(enabled, kind)).toBe(0);
});

test('the limits of the contract: 30 status, 30 live and 120 read calls, 5 MB, ten times that when trusted', () => {
  expect(CALLS_PER_MINUTE).toMatchObject({ status: 30, live: 30, read: 120 });
  expect(READ_BYTES_PER_MINUTE).toBe(5_000_000);
  const limits = new RateLimits(clockAt());
  for (let i = 0; i < 120 * TRUSTED_FACTOR; i++) expect(limits.take({ id: 't', access: 'trusted' }, 'read')).toBe(0);
  expect(limits.take({ id: 't', access: 'trusted' }, 'read')).toBeGreaterThan(0);
});

test('bytes read count too, and a refused call does not', () => {
  const clock = clockAt();
  const limits = new RateLimits(clock);
  expect(limits.take(enabled, 'read')).toBe(0);
  expect(limits.spend(enabled, READ_BYTES_PER_MINUTE)).toBe(0);
  clock.pass(1_000);
  for (let i = 0; i < 500; i++) expect(limits.take(enabled, 'read')).toBe(59);
  expect(limits.take(enabled, 'status')).toBe(0);
  clock.pass(59_000);
  expect(limits.take(enabled, 'read')).toBe(0);
});

test('a reply that does not fit is not sent and takes nothing; the wait is until it would fit', () => {
  const clock = clockAt();
  const limits = new RateLimits(clock);
  expect(limits.spend(enabled, READ_BYTES_PER_MINUTE - 1_000)).toBe(0);
  expect(limits.room(enabled)).toBe(1_000);
  clock.pass(20_000);
  expect(limits.spend(enabled, 1_001)).toBe(40);
  expect(limits.spend(enabled, 1_000)).toBe(0);
  clock.pass(40_000);
  expect(limits.spend(enabled, 1_001)).toBe(0);
});
