import { InvalidArgumentError } from 'commander';
import { parseDuration } from './duration.js';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * A date, an ISO time, `today`, `yesterday`, or how long ago (`7d`, `12h`), as the search routes take it: a bare date
 * stays a date, anything else becomes an ISO time in UTC.
 * @throws InvalidArgumentError
 */
export function momentArgument(text: string, now: Date = new Date()): string {
  const input = text.trim();
  if (input === 'today') return localDate(now);
  if (input === 'yesterday') return localDate(new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1));
  const iso = ISO.exec(input);
  if (iso !== null && isCalendarDay(Number(iso[1]), Number(iso[2]), Number(iso[3]))) {
    if (input.length === 10) return input;
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

function localDate(date: Date): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
