import { createInterface } from 'node:readline';
import type { CliContext } from './context.js';
import { UsageError } from './errors.js';
import { plain } from './output/text.js';

/**
 * Asks a yes-or-no question on the terminal; anything but yes is no.
 * @throws UsageError where nobody can answer
 */
export async function confirm(context: CliContext, question: string): Promise<boolean> {
  if (!context.interactive) throw new UsageError('This needs a yes, and there is no terminal to ask on.', 'Add --yes to go ahead.');
  context.stderr.write(`${plain(question)} [y/N] `);
  const readline = createInterface({ input: context.stdin });
  try {
    for await (const answer of readline) return /^y(es)?$/i.test(answer.trim());
    return false;
  } finally {
    readline.close();
  }
}
