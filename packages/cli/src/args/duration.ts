import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const EXPECTED = 'Expected a time such as 90s, 5m, 1h30m, 12:30 or 1:02:03.';

/** ms for `90s`, `5m`, `1h30m`, `mm:ss`, `h:mm:ss`, or plain seconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const input = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(input)) return finite(Number(input) * 1000);
  const parts = /^(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)$/.exec(input);
  if (parts !== null) {
    const [, h, m = '0', s = '0'] = parts;
    if (Number(s) >= 60 || (h !== undefined && Number(m) >= 60)) return undefined;
    return finite((Number(h ?? 0) * 3600 + Number(m) * 60 + Number(s)) * 1000);
  }
  if (!/^(\d+(\.\d+)?\s*(ms|s|min|m|h|d)\s*)+$/.test(input)) return undefined;
  let total = 0;
  for (const [, count = '0', unit = ''] of input.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)/g))
    total += Number(count) * (UNITS[unit] ?? 0);
  return finite(total);
}

function finite(ms: number): number | undefined {
  return Number.isSafeInteger(Math.round(ms)) ? Math.round(ms) : undefined;
}

/** A place on a session's clock, ms. @throws InvalidArgumentError */
export function positionArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError(EXPECTED);
  return ms;
}

/** A length, ms, more than nothing. @throws InvalidArgumentError */
export function durationArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError(EXPECTED);
  return ms;
}
