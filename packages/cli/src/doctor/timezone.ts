import { type Check, check, type DoctorFacts } from '@ambient/contract';

/** A daemon keeps the time zone that it started in; a laptop travels. */
export function checkTimezone({ timezone, utc_offset_min }: DoctorFacts): Check[] {
  const here = -new Date().getTimezoneOffset();
  if (here === utc_offset_min) return [];
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const detail = `The daemon still goes by ${timezone ?? 'UTC'} (${offset(utc_offset_min)}); here it is ${zone} (${offset(here)}). Sessions are named by the daemon's time.`;
  return [check.warning('clock.zone', 'Time zone', detail, 'Run `ambientctl daemon restart`.')];
}

function offset(minutes: number): string {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}
