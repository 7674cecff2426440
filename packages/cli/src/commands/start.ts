import path from 'node:path';
import { type RouteInput, type RouteReply, StartRequest } from '@ambient/contract';
import { type Command, Option } from 'commander';
import { durationArgument } from '../args/duration.js';
import { requireFitting } from '../args/fitting.js';
import { nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { examples } from '../help.js';
import { interruptible } from '../interrupt.js';
import { plain } from '../output/text.js';
import { followSession, printLine } from '../session-follower.js';

/** Opening devices and proving that they deliver takes its time, ms. */
const START_PATIENCE_MS = 60_000;

interface StartOptions {
  readonly name?: string;
  readonly mic: boolean;
  readonly system: boolean;
  readonly device?: string;
  readonly roomFile?: string;
  readonly callFile?: string;
  readonly pace: 'real' | 'fast';
  /** ms */
  readonly seconds?: number;
  readonly follow?: boolean;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('start')
      .description('start a recording, and the daemon when it is not running')
      .option('--name <name>', 'a name for the session', nonBlank)
      .option('--no-mic', 'leave the room (microphone) out')
      .option('--no-system', 'leave the call (system audio) out')
      .option('--device <id>', 'microphone to record, as `devices` lists them', nonBlank)
      .option('--room-file <file>', 'play an audio file into the room track instead', nonBlank)
      .option('--call-file <file>', 'play an audio file into the call track instead', nonBlank)
      .addOption(new Option('--pace <pace>', 'how fast files are played').choices(['real', 'fast']).default('real'))
      .option('--seconds <time>', 'stop by itself after this long (90, 90s, 5m, 1h30m)', durationArgument)
      .option('--follow', 'print each line as it is published; Ctrl-C leaves the recording running'),
    ['ambientctl start', 'record the microphone and what the computer plays'],
    ['ambientctl start --name "Weekly" --follow', 'give it a name and read along'],
    ['ambientctl start --no-system --seconds 1h', 'the room only, for an hour'],
    ['ambientctl start --room-file a.wav --pace fast --follow', 'try it on a file'],
  ).action((options: StartOptions) => start(context, options));
}

async function start(context: CliContext, options: StartOptions): Promise<void> {
  const body = request(context.cwd, options);
  const client = await context.connect();
  const reply = await client.call('start', { body }, { timeoutMs: START_PATIENCE_MS });
  const { out } = context;
  if (options.follow !== true) {
    out.result(reply, () => startedText(reply, true));
    return;
  }
  out.note(startedText(reply, false));
  const { value, interrupted } = await interruptible((signal) =>
    followSession(context, reply.id, { signal, onLine: (line) => printLine(context, line) }),
  );
  if (out.json) out.value({ ...reply, lines: value.lines, state: value.state ?? 'live' });
  if (interrupted) out.note(`No longer following. ${plain(reply.id)} goes on recording: stop it with \`ambientctl stop\`.`);
  else if (value.state !== undefined)
    out.note(`${plain(reply.id)} is ${value.state}. Read it again with \`ambientctl show ${plain(reply.id)}\`.`);
}

function request(cwd: string, options: StartOptions): RouteInput<'start'>['body'] {
  const { name, mic, system, device, roomFile, callFile, pace, seconds } = options;
  requireFitting('name', StartRequest.shape.name, name);
  requireFitting('device', StartRequest.shape.device, device);
  requireFitting('seconds', StartRequest.shape.seconds, seconds === undefined ? undefined : seconds / 1000);
  const files = roomFile !== undefined || callFile !== undefined;
  if (!mic && !system && !files)
    throw new UsageError('--no-mic and --no-system together leave nothing to record.', 'Leave one of them out.');
  if (!mic && roomFile !== undefined)
    throw new UsageError('--no-mic leaves the room track out, and --room-file plays into it.', 'Give one of them.');
  if (!system && callFile !== undefined)
    throw new UsageError('--no-system leaves the call track out, and --call-file plays into it.', 'Give one of them.');
  if (roomFile !== undefined && device !== undefined)
    throw new UsageError('--device and --room-file both want the room track.', 'Give one of them.');
  if (pace === 'fast' && !files)
    throw new UsageError('--pace fast is for files: a microphone has only its own pace.', 'Add --room-file or --call-file.');
  return {
    mic,
    system,
    pace,
    ...(name === undefined ? {} : { name }),
    ...(device === undefined ? {} : { device }),
    ...(roomFile === undefined ? {} : { room_file: path.resolve(cwd, roomFile) }),
    ...(callFile === undefined ? {} : { call_file: path.resolve(cwd, callFile) }),
    ...(seconds === undefined ? {} : { seconds: seconds / 1000 }),
  };
}

function startedText(reply: RouteReply<'start'>, hint: boolean): string {
  const { id, name, tracks, already_running, warnings } = reply;
  const called = name === null ? '' : ` "${name}"`;
  const first = already_running
    ? `A recording runs already: ${id}${called}. Nothing new was started.`
    : `Recording ${id}${called} (${tracks.join(' and ')}).`;
  const next = hint ? ' Read along with `ambientctl follow`, end it with `ambientctl stop`.' : '';
  return [
    plain(first + next),
    ...warnings.map((warning) => plain(`Warning: ${warning.message}${warning.hint === undefined ? '' : ` ${warning.hint}`}`)),
  ].join('\n');
}
