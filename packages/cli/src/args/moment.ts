import { InvalidArgumentError } from 'commander';
import { parseDuration } from './duration.js';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Which moment of a day a date stands for: its first, or its last. */
type Edge = 'start' | 'end';

/**
 * A date, an ISO time, `today`, `yesterday`, or how long ago (`7d`, `12h`), as an ISO time in UTC. What has no zone is meant in
 * that of the terminal: the daemon may run in another.
 * @throws InvalidArgumentError
 */
export function momentArgument(text: string, edge: Edge = 'start', now: Date = new Date()): string {
  const input = text.trim();
  if (input === 'today') return dayEdge(edge, now.getFullYear(), now.getMonth(), now.getDate());
  if (input === 'yesterday') return dayEdge(edge, now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const iso = ISO.exec(input);
  if (iso !== null && isCalendarDay(Number(iso[1]), Number(iso[2]), Number(iso[3]))) {
    if (input.length === 10) return dayEdge(edge, Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
    const date = new Date(input.replace(' ', 'T'));
    if (!Number.isNaN(date.getTime())) return date.toISOString();
  }
  const ago = /[a-z]$/i.test(input) ? parseDuration(input) : undefined;
  if (ago !== undefined && ago <= now.getTime()) return new Date(now.getTime() - ago).toISOString();
  throw new InvalidArgumentError(
    'Expected a date such as 2026-11-30, a time such as 2026-11-30T16:00, today, yesterday, or an age such as 7d.',
  );
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** First or last millisecond of a local day. @param month from 0 */
function dayEdge(edge: Edge, year: number, month: number, day: number): string {
  const at = edge === 'start' ? new Date(year, month, day) : new Date(new Date(year, month, day + 1).getTime() - 1);
  return at.toISOString();
}
