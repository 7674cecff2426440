import type { Command } from 'commander';
import { nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { examples, SESSION_HELP } from '../help.js';
import { interruptible } from '../interrupt.js';
import { followSession, printLine } from '../session-follower.js';

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('follow')
      .description('print each line as it is published, until the transcript is complete (with --json: one object a line)')
      .argument('[session]', SESSION_HELP, nonBlank, 'live'),
    ['ambientctl follow', 'read along with the recording'],
    ['ambientctl follow last', 'from the first line to the end of the last session'],
    ['ambientctl follow --json', 'one JSON object a line, as they come'],
  ).action((session: string) => followVerb(context, session));
}

async function followVerb(context: CliContext, session: string): Promise<void> {
  await context.connect();
  const { out } = context;
  const { value } = await interruptible((signal) =>
    followSession(context, session, {
      signal,
      // A stream has no end to wait for: here, and in `daemon logs --follow`, JSON comes as one value a line.
      onLine: (line, index) => (out.json ? out.value({ ...line, segment: index + 1 }) : printLine(context, line)),
    }),
  );
  if (value.state === 'removed') out.note(`${value.id} was deleted.`);
  else if (value.state === 'broken') out.note(`${value.id} cannot be read: \`ambientctl sessions\` says why.`);
}
