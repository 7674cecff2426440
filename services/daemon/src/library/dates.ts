import { AmbientError } from '@ambient/contract';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4})-(\d{2})-(\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * The first moment that `since` lets in, ms since the epoch. A date means its local midnight, a time without an offset is local.
 * @throws AmbientError `bad_request`
 */
export function sinceTime(since: string): number {
  return parse('since', since).start;
}

/**
 * The first moment that `until` leaves out: a date is let in with its whole local day.
 * @throws AmbientError `bad_request`
 */
export function untilTime(until: string): number {
  return parse('until', until).end;
}

function parse(name: string, text: string): { start: number; end: number } {
  const trimmed = text.trim();
  const date = DATE.exec(trimmed);
  const [, year, month, day] = date ?? TIME.exec(trimmed) ?? [];
  const at = (add: number) => new Date(Number(year), Number(month) - 1, Number(day) + add);
  // Date rolls the 31st of April over to May: such a day does not exist.
  if (year === undefined || at(0).getMonth() !== Number(month) - 1) throw badDate(name, text);
  if (date) return { start: at(0).getTime(), end: at(1).getTime() };
  const time = new Date(trimmed.replace(' ', 'T')).getTime();
  if (Number.isNaN(time)) throw badDate(name, text);
  return { start: time, end: time + 1 };
}

function badDate(name: string, text: string): AmbientError {
  return new AmbientError(
    'bad_request',
    `${name} is not a date: ${JSON.stringify(text.slice(0, 40))}`,
    'Write a date as 2026-11-30, or a time as 2026-11-30T16:08.',
  );
}
