import type { Check } from '@ambient/contract';
import type { CliContext } from '../context.js';

/** A look at one matter that needs no daemon. Never throws for what it finds. */
export type LocalCheck = (context: CliContext) => Promise<readonly Check[]>;

export function ok(id: string, title: string, detail: string): Check {
  return { id, title, status: 'ok', detail };
}

export function warning(id: string, title: string, detail: string, fix: string): Check {
  return { id, title, status: 'warning', detail, fix };
}

export function failure(id: string, title: string, detail: string, fix: string): Check {
  return { id, title, status: 'failure', detail, fix };
}
