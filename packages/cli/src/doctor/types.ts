import type { Check } from '@ambient/contract';
import type { CliContext } from '../context.js';

/** A look at one matter that needs no daemon. Never throws for what it finds. */
export type LocalCheck = (context: CliContext) => Promise<readonly Check[]>;
