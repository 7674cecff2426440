import type { z } from 'zod';

/** What is known of an issue wherever it was found: zod's own, or the same after it went through a validator. */
export interface MisfitIssue {
  readonly code?: string | undefined;
  readonly message: string;
  readonly origin?: unknown;
  readonly maximum?: unknown;
  readonly minimum?: unknown;
  readonly inclusive?: unknown;
  readonly expected?: unknown;
  readonly values?: unknown;
}

export interface Misfit {
  /** What is wrong and what would be right, in one sentence. */
  readonly message: string;
  /** The next step. */
  readonly hint: string;
}

const FIELDS: Readonly<Record<string, string>> = {
  name: 'The name',
  q: 'The search text',
  tag: 'The tag',
  tags: 'The tag',
  speaker: 'The speaker',
  notes: 'The note',
  session: 'The session',
  seconds: 'The number of seconds',
};
const CORRECT = 'Correct it and try again.';

/** Says of a value that a schema refused what is wrong with it. @param path of the value; its first part names the field */
export function misfitOf(path: readonly PropertyKey[], issue: MisfitIssue, value: unknown): Misfit {
  const field = String(path[0] ?? 'request');
  const what = FIELDS[field] ?? (path.length === 0 ? 'The request' : `\`${path.join('.')}\``);
  const say = (rest: string, hint = CORRECT): Misfit => ({ message: `${what} ${rest}.`, hint });
  const { code, origin, maximum, minimum } = issue;
  if (code === 'too_big' && origin === 'string')
    return say(`is ${String(value).trim().length} characters long; it may have at most ${maximum}`, 'Shorten it.');
  if (code === 'too_small' && origin === 'string') return say('is empty');
  if (origin === 'array' && (code === 'too_big' || code === 'too_small')) {
    const [limit, count] = [code === 'too_big' ? `at most ${maximum}` : `at least ${minimum}`, Array.isArray(value) ? value.length : 0];
    return { message: `\`${field}\` holds ${count}; there may be ${limit}.`, hint: CORRECT };
  }
  if (code === 'too_big') return say(`is ${value}; it may be at most ${maximum}`);
  if (code === 'too_small') return say(`is ${value}; it has to be ${issue.inclusive === false ? 'more than' : 'at least'} ${minimum}`);
  if (code === 'invalid_type') return say(value === undefined ? 'is missing' : `has to be of type ${issue.expected}`);
  if (code === 'invalid_value' && Array.isArray(issue.values)) return say(`has to be one of: ${issue.values.join(', ')}`);
  if (code === 'custom') return say(issue.message);
  return say('does not fit');
}

/** As `misfitOf`, for a value on its own; undefined when the schema takes it. */
export function misfit(field: string, schema: z.ZodType, value: unknown): Misfit | undefined {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? undefined : misfitOf([field], issue, value);
}
