import { localMinute } from '../platform/clock.js';

const PATTERN = /^(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(?:-\d{2}(?:-\d{4})?)?$/;
const MAX_ATTEMPT = 9999;

/**
 * Ids to try for a session that starts at `date`: the local minute, then `-02` to `-99`, then `-99-0100` on. Ordered as bytes.
 * @param after how many of them are known to be taken
 */
export function* sessionIds(date: Date, after = 0): Generator<{ id: string; attempt: number }> {
  const minute = localMinute(date);
  for (let attempt = after + 1; attempt <= MAX_ATTEMPT; attempt++) yield { id: `${minute}${suffix(attempt)}`, attempt };
}

function suffix(attempt: number): string {
  if (attempt === 1) return '';
  return attempt < 100 ? `-${String(attempt).padStart(2, '0')}` : `-99-${String(attempt).padStart(4, '0')}`;
}

/** The time an id of ours names, ms since the epoch; undefined for any other folder name. */
export function idTime(id: string): number | undefined {
  const [, day, hour, minute] = PATTERN.exec(id) ?? [];
  const time = day === undefined ? Number.NaN : new Date(`${day}T${hour}:${minute}`).getTime();
  return Number.isNaN(time) ? undefined : time;
}
