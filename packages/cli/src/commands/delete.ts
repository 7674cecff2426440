import type { Command } from 'commander';
import { nonBlank } from '../args/values.js';
import { confirm } from '../ask.js';
import type { CliContext } from '../context.js';
import { ReportedFailure } from '../errors.js';
import { examples, SESSION_HELP } from '../help.js';
import { plain } from '../output/text.js';
import { bytes } from '../output/time.js';

interface DeleteOptions {
  readonly audio?: boolean;
  readonly yes?: boolean;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('delete')
      .description('delete a session with all its files; asks first')
      .argument('<session>', SESSION_HELP, nonBlank)
      .option('--audio', 'delete only the audio and keep the text')
      .option('-y, --yes', 'do not ask'),
    ['ambientctl delete 2026-11-30T1608', 'asks, then deletes it'],
    ['ambientctl delete last --audio', 'keeps the transcript'],
    ['ambientctl delete 2026-11-30T1608 --yes', 'for scripts'],
  ).action((session: string, options: DeleteOptions) => deleteSession(context, session, options));
}

async function deleteSession(context: CliContext, session: string, { audio = false, yes = false }: DeleteOptions): Promise<void> {
  const client = await context.connect();
  const { summary } = await client.call('session', { params: { session } });
  const { id, name } = summary;
  const what = plain(`${audio ? 'the audio of ' : ''}${id}${name === null ? '' : ` "${name}"`}`);
  if (!yes && !(await confirm(context, `Delete ${what}${audio ? '' : ' with all its files'}?`))) {
    context.out.note('Nothing was deleted.');
    throw new ReportedFailure();
  }
  if (audio) {
    const reply = await client.call('removeAudio', { params: { session: id } });
    context.out.result({ ...reply, deleted: 'audio' }, () => `Deleted ${what} (${bytes(reply.bytes)}).`);
  } else {
    const reply = await client.call('remove', { params: { session: id } });
    context.out.result({ ...reply, deleted: 'session' }, () => `Deleted ${what}.`);
  }
}
