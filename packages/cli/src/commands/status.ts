import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { holderOf, silentText } from '../daemon/holder.js';
import { ReportedFailure } from '../errors.js';
import { examples } from '../help.js';
import { statusText } from '../output/status.js';

/** `status` in JSON where no daemon answers. */
export const NOT_RUNNING = { running: false, pid: null, live: null } as const;

export function register(program: Command, context: CliContext): void {
  examples(
    program.command('status').description('what is recorded, transcribed and waited for right now'),
    ['ambientctl status', 'for people'],
    ['ambientctl status --json', 'everything the daemon reports, for scripts'],
  ).action(() => status(context));
}

async function status({ client, paths, out }: CliContext): Promise<void> {
  if (!(await client.isAlive())) {
    const pid = await holderOf(paths.home);
    if (pid !== undefined) {
      out.result({ running: true, pid, answers: false }, () => silentText(pid));
      throw new ReportedFailure();
    }
    out.result(NOT_RUNNING, () => 'The daemon is not running, and nothing is recorded. Start a recording with `ambientctl start`.');
    return;
  }
  const now = await client.call('status', {});
  out.result({ running: true, ...now }, (view) => statusText(now, view));
}
