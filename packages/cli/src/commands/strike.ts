import type { AmbientClient } from '@ambient/client';
import { AmbientError, TRACKS, type Track } from '@ambient/contract';
import { type Command, Option } from 'commander';
import { durationArgument, positionArgument } from '../args/duration.js';
import { nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { examples, SESSION_HELP } from '../help.js';
import { plain } from '../output/text.js';
import { clock } from '../output/time.js';

interface StrikeOptions {
  /** All ms. */
  readonly last?: number;
  readonly from?: number;
  readonly to?: number;
  readonly track?: Track;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('strike')
      .description('remove what was said in a stretch: audio, text, index and live feed; it cannot be undone')
      .argument('[session]', `${SESSION_HELP} (default: the live one, else the last)`, nonBlank)
      .option('--last <time>', 'the last stretch of it, such as 5m', durationArgument)
      .option('--from <time>', 'from this time on its clock, such as 12:30', positionArgument)
      .option('--to <time>', 'up to this time on its clock', positionArgument)
      .addOption(new Option('--track <track>', 'only this track').choices(TRACKS)),
    ['ambientctl strike --last 5m', 'the last five minutes of what is recording'],
    ['ambientctl strike last --from 12:30 --to 14:00', 'a stretch of the last session'],
    ['ambientctl strike --last 90s --track room', 'only what the microphone heard'],
  ).action((session: string | undefined, options: StrikeOptions) => strike(context, session, options));
}

async function strike(context: CliContext, session: string | undefined, options: StrikeOptions): Promise<void> {
  checkRange(options);
  const client = await context.connect();
  const target = await locate(client, session);
  const [from_ms, to_ms] = range(options, target);
  const body = { from_ms, to_ms, ...(options.track === undefined ? {} : { track: options.track }) };
  const reply = await client.call('strike', { params: { session: target.id }, body }, { timeoutMs: 120_000 });
  context.out.result(reply, () => {
    const lines = `${reply.lines} ${reply.lines === 1 ? 'line' : 'lines'}`;
    return plain(
      `Struck ${clock(reply.from_ms)} to ${clock(reply.to_ms)} of ${reply.session}${reply.cut === true ? ', where it ends' : ''}: ${lines}, and the audio.`,
    );
  });
}

function checkRange({ last, from, to }: StrikeOptions): void {
  const hint = 'For example --last 5m, or --from 12:30 --to 14:00.';
  if (last !== undefined && (from !== undefined || to !== undefined))
    throw new UsageError('Give --last, or --from with --to, not both.', hint);
  if (last === undefined && (from === undefined || to === undefined)) throw new UsageError('Say which stretch to strike.', hint);
  if (from !== undefined && to !== undefined && to <= from)
    throw new UsageError('The stretch ends before it begins.', 'Give --from before --to.');
}

interface Target {
  readonly id: string;
  /** ms, or null when unknown */
  readonly length: number | null;
}

async function locate(client: AmbientClient, session: string | undefined): Promise<Target> {
  const { live } = await client.call('status', {});
  if (session === undefined && live !== null) return { id: live.id, length: live.elapsed_ms };
  const { summary } = await client.call('session', { params: { session: session ?? 'last' } });
  if (live !== null && summary.id === live.id) return { id: live.id, length: live.elapsed_ms };
  return { id: summary.id, length: summary.duration_s === null ? null : summary.duration_s * 1000 };
}

function range({ last, from = 0, to = 0 }: StrikeOptions, { id, length }: Target): [from: number, to: number] {
  if (last === undefined) return [from, to];
  if (length === null) throw new AmbientError('conflict', `The length of ${id} is not known.`, 'Give --from and --to instead of --last.');
  if (length <= 0) throw new AmbientError('conflict', `${id} is empty.`, 'There is nothing to strike.');
  return [Math.max(0, length - last), length];
}
