import type { SessionFile, Warning } from '@ambient/contract';
import type { LogContent } from './jsonl-log.js';

/** Codes of the warnings about lines that cannot be read, by the file they are in. */
export const DAMAGE_CODES = { 'raw.jsonl': 'lines_damaged', 'edits.jsonl': 'edits_damaged' } as const;
type LogName = keyof typeof DAMAGE_CODES;

/** So many line numbers are named; further ones are counted. */
const NAMED = 5;
const HINTS: Readonly<Record<LogName, string>> = {
  'raw.jsonl': 'The other lines are not affected and keep their numbers. Restore the file from a backup, if there is one.',
  'edits.jsonl': 'The names, corrections and comments in it are not applied. Restore the file from a backup, if there is one.',
};

/**
 * Numbers from 1 of the recognised lines that cannot be read. What stands after the last whole line is damage only when
 * `finished`: before, it is the torn end that recovery cuts.
 */
export function damagedLines(log: LogContent<unknown>, finished: boolean): number[] {
  const inside = log.entries.flatMap((entry, i) => (entry === undefined ? [i + 1] : []));
  return finished ? [...inside, ...tail(log)] : inside;
}

/** The same of edits: those of a newer version are JSON and no damage. */
export function damagedEdits(log: LogContent<unknown>, finished: boolean): number[] {
  return finished ? [...log.garbage, ...tail(log)] : [...log.garbage];
}

function tail({ entries, tornLines }: LogContent<unknown>): number[] {
  return Array.from({ length: tornLines }, (_, i) => entries.length + 1 + i);
}

/** What the session says of damaged lines; undefined when there are none. */
export function damageWarning(name: LogName, lines: readonly number[]): Omit<Warning, 'at'> | undefined {
  if (lines.length === 0) return undefined;
  const which = lines.length > NAMED ? `${lines.slice(0, NAMED).join(', ')} and ${lines.length - NAMED} more` : lines.join(', ');
  const [count, numbers] = lines.length === 1 ? ['1 line', `line ${which}`] : [`${lines.length} lines`, `lines ${which}`];
  const message = `${count} of ${name} ${lines.length === 1 ? 'is' : 'are'} damaged and cannot be read (${numbers}).`;
  return { code: DAMAGE_CODES[name], message, hint: HINTS[name] };
}

/**
 * Puts `warning` into the file in place of an older one of the same log, or takes that one out. Only of a `finished`
 * session anything is taken out: before, clients count the list.
 * @returns whether anything has to change
 */
export function noteDamage(
  draft: SessionFile,
  name: LogName,
  warning: Omit<Warning, 'at'> | undefined,
  at: string,
  finished: boolean,
): boolean {
  const index = draft.warnings.findIndex(({ code }) => code === DAMAGE_CODES[name]);
  if (warning === undefined) {
    if (index === -1 || !finished) return false;
    draft.warnings.splice(index, 1);
    return true;
  }
  if (draft.warnings[index]?.message === warning.message) return false;
  draft.warnings.splice(index === -1 ? draft.warnings.length : index, 1, { ...warning, at });
  return true;
}
