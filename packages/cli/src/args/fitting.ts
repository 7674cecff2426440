import { misfit } from '@ambient/contract';
import { UsageError } from '../errors.js';

type Schema = Parameters<typeof misfit>[1];

/** Makes sure that what was typed fits before the daemon is asked. @param field as the contract calls it @throws UsageError */
export function requireFitting(field: string, schema: Schema, value: unknown): void {
  const found = misfit(field, schema, value);
  if (found !== undefined) throw new UsageError(found.message, found.hint);
}
