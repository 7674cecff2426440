import { type DaemonStatus, TRACKS, type Track } from '@ambient/contract';
import { Argument, type Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples } from '../help.js';
import { plain } from '../output/text.js';
import { length } from '../output/time.js';

/** Ending a recording waits for the recorders to hand over their last samples, ms. */
const STOP_PATIENCE_MS = 60_000;

export function register(program: Command, context: CliContext): void {
  examples(program.command('stop').description('stop the recording; its transcript is finished in the background'), [
    'ambientctl stop',
    'stop what is recording',
  ]).action(() => stop(context));
  examples(program.command('pause').description('stop listening until `resume`; the clock runs on'), [
    'ambientctl pause',
    'nothing is heard from now on',
  ]).action(() => change(context, () => context.client.call('pause', { body: {} }), 'Paused. Go on with `ambientctl resume`.'));
  examples(program.command('resume').description('listen again after `pause`'), ['ambientctl resume', 'listen again']).action(() =>
    change(context, () => context.client.call('resume', { body: {} }), 'Listening again.'),
  );
  examples(
    program
      .command('mute')
      .description('mute one track of the recording')
      .addArgument(new Argument('<track>', 'which one').choices(TRACKS))
      .option('--off', 'listen to it again'),
    ['ambientctl mute room', 'stop hearing the microphone'],
    ['ambientctl mute room --off', 'hear it again'],
  ).action((track: Track, { off = false }: { off?: boolean }) =>
    change(
      context,
      () => context.client.call('mute', { body: { track, muted: !off } }),
      off ? `The ${track} track is heard again.` : `The ${track} track is muted. Undo it with \`ambientctl mute ${track} --off\`.`,
    ),
  );
}

async function stop({ client, out }: CliContext): Promise<void> {
  const reply = await client.call('stop', { body: {} }, { timeoutMs: STOP_PATIENCE_MS });
  out.result(reply, () => {
    const done = reply.state === 'done' || reply.state === 'interrupted';
    const next = done
      ? `Read it with \`ambientctl show ${reply.id}\`.`
      : `Its transcript is being finished: \`ambientctl follow ${reply.id}\`.`;
    return `Stopped ${reply.id} after ${length(reply.duration_s * 1000)}. ${next}`;
  });
  for (const { message, hint } of reply.warnings ?? []) out.note(plain(`Warning: ${message}${hint === undefined ? '' : ` ${hint}`}`));
}

async function change({ out }: CliContext, call: () => Promise<DaemonStatus>, said: string): Promise<void> {
  out.result({ running: true, ...(await call()) }, () => said);
}
