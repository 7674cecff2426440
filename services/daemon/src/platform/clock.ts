import os from 'node:os';

/** Time for the daemon. Tests pass their own; durations never come from `now`. */
export interface Clock {
  /** Wall clock. May step. */
  now(): Date;
  /** Milliseconds from an arbitrary start; never steps back. On Linux it stands still during sleep. */
  monotonicMs(): number;
  /** Milliseconds since the machine started, sleep included; not moved by steps of the wall clock. Absent where it cannot be told. */
  sinceBootMs?(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sinceBootMs: () => os.uptime() * 1000,
};

const two = (n: number): string => String(Math.trunc(Math.abs(n))).padStart(2, '0');

/** ISO 8601 in local time with its offset, to the millisecond: `2026-11-30T16:08:03.120+01:00`. */
export function isoWithOffset(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const shifted = new Date(date.getTime() + offset * 60_000);
  const zone = offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`;
  return shifted.toISOString().slice(0, -1) + zone;
}

/** Local minute as it stands in session ids: `2026-11-30T1608`. */
export function localMinute(date: Date): string {
  return isoWithOffset(date).slice(0, 16).replace(':', '');
}
