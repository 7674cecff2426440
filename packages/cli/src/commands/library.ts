import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples, group } from '../help.js';
import { plain } from '../output/text.js';

export function register(program: Command, context: CliContext): void {
  examples(
    group(program, 'library', 'care for the search index').command('rebuild').description('make the index anew from the session folders'),
    ['ambientctl library rebuild', 'loses nothing: the folders are the truth'],
  ).action(() => rebuild(context));
}

async function rebuild(context: CliContext): Promise<void> {
  const client = await context.connect();
  const reply = await client.call('rebuild', { body: {} }, { timeoutMs: 0 });
  context.out.result(reply, () =>
    [
      `Indexed ${reply.sessions} ${reply.sessions === 1 ? 'session' : 'sessions'} with ${reply.lines} lines.`,
      ...reply.skipped.map(({ id, error }) => plain(`Left out ${id}: ${error}`)),
    ].join('\n'),
  );
}
