import type { DaemonStatus } from '@ambient/contract';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { holderOf, silentText } from '../daemon/holder.js';
import { statusText } from '../output/status.js';
import { fields } from '../output/table.js';
import { NOT_RUNNING } from './status.js';

type Step = readonly [command: string, meaning: string];

/** What `ambientctl` alone does. */
export function register(program: Command, context: CliContext): void {
  program.command('overview', { hidden: true }).action(() => overview(context));
}

async function overview({ client, paths, out }: CliContext): Promise<void> {
  const now = (await client.isAlive()) ? await client.call('status', {}) : undefined;
  const silent = now === undefined ? await holderOf(paths.home) : undefined;
  const next: Step[] =
    silent === undefined
      ? nextSteps(now)
      : [
          ['ambientctl daemon stop', 'end it'],
          ['ambientctl doctor', 'see what is wrong'],
        ];
  const state = silent === undefined ? NOT_RUNNING : { running: true, pid: silent, answers: false };
  const value = { ...(now === undefined ? state : { running: true, ...now }), next: next.map(([command]) => command) };
  out.result(value, (view) =>
    [
      now === undefined ? absence(silent) : statusText(now, view),
      '',
      view.paint('bold', 'Next:'),
      fields(
        next.map(([command, meaning]) => [`  ${command}`, meaning]),
        view.width,
      ),
      '',
      'All verbs: ambientctl --help',
    ].join('\n'),
  );
}

function absence(silent: number | undefined): string {
  return silent === undefined ? 'The daemon is not running, and nothing is recorded.' : silentText(silent);
}

/** The three most useful commands now. */
function nextSteps(status: DaemonStatus | undefined): Step[] {
  const steps: Step[] = [];
  if (status !== undefined && status.approvals_pending > 0) steps.push(['ambientctl approvals', 'decide what an agent asks for']);
  if (status?.live) {
    if (status.live.paused) steps.push(['ambientctl resume', 'listen again']);
    steps.push(
      ['ambientctl follow', 'read along'],
      ['ambientctl stop', 'end the recording'],
      ['ambientctl strike --last 1m', 'remove what was just said'],
    );
  } else {
    steps.push(['ambientctl start --follow', 'record the room and the call']);
    if (status !== undefined && status.sessions > 0)
      steps.push(['ambientctl show last', 'read the last session'], ['ambientctl search WORD', 'find what was said']);
    else steps.push(['ambientctl import FILE --wait', 'transcribe an audio file'], ['ambientctl doctor', 'check that all is well']);
  }
  return steps.slice(0, 3);
}
