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
const TYPES: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Says of a value that a schema refused what is wrong with it. @param path of the value; its first part names the field */
export function misfitOf(path: readonly PropertyKey[], issue: MisfitIssue, value: unknown): Misfit {
  const field = FIELDS[String(path[0])];
  const isList = issue.origin === 'array';
  const what = path.length === 0 ? 'The request' : field === undefined || isList ? `\`${path.join('.')}\`` : field;
  const tooLong = issue.code === 'too_big' && issue.origin === 'string';
  return { message: `${what} ${faultOf(issue, value)}.`, hint: tooLong ? 'Shorten it.' : 'Correct it and try again.' };
}

/** What is wrong with a value, to be said of its name: `has to be one of: a, b`. */
export function faultOf(issue: MisfitIssue, value: unknown): string {
  const { code, origin, maximum, minimum, expected, values, message } = issue;
  switch (code) {
    case 'too_big':
      if (origin === 'string') return `is ${String(value).trim().length} characters long; it may have at most ${maximum}`;
      if (origin === 'array') return `holds ${countOf(value)}; there may be at most ${maximum}`;
      return `is ${value}; it may be at most ${maximum}`;
    case 'too_small':
      if (origin === 'string') return 'is empty';
      if (origin === 'array') return `holds ${countOf(value)}; there have to be at least ${minimum}`;
      return `is ${value}; it has to be ${issue.inclusive === false ? 'more than' : 'at least'} ${minimum}`;
    case 'invalid_type':
      return value === undefined ? 'is missing' : `has to be ${TYPES[String(expected)] ?? `of type ${expected}`}`;
    case 'invalid_value':
      return Array.isArray(values) ? `has to be one of: ${values.join(', ')}` : 'does not fit';
    case 'custom':
      return message;
    case 'invalid_union':
      return message === 'Invalid input' ? 'does not fit' : message;
    default:
      return 'does not fit';
  }
}

function countOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** As `misfitOf`, for a value on its own; undefined when the schema takes it. */
export function misfit(field: string, schema: z.ZodType, value: unknown): Misfit | undefined {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? undefined : misfitOf([field], issue, value);
}
