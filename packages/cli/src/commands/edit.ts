import { SessionName, SessionTag, SpeakerName, TRACKS, type Track } from '@ambient/contract';
import { type Command, Option } from 'commander';
import { requireFitting } from '../args/fitting.js';
import { collect, lineNumbers, nonBlank, tagArgument } from '../args/values.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { examples, SESSION_HELP } from '../help.js';
import { plain } from '../output/text.js';

interface SpeakerOptions {
  readonly track?: Track;
  readonly segments?: number[];
  readonly clear?: boolean;
}

/** Verbs that change what is known of a session: `rename`, `tag`, `speaker`. */
export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('rename')
      .description('give a session a name')
      .argument('<session>', SESSION_HELP, nonBlank)
      .argument('<name...>', 'any text', collect),
    ['ambientctl rename last "Weekly planning"', 'the last session'],
    ['ambientctl rename live Weekly planning', 'quotes may be left out'],
  ).action((session: string, name: string[]) => rename(context, session, name.join(' ')));
  examples(
    program
      .command('tag')
      .description('add tags to a session, or remove them')
      .argument('<session>', SESSION_HELP, nonBlank)
      .argument('<tag...>', 'tags', collect)
      .option('--remove', 'remove them instead'),
    ['ambientctl tag last work planning', 'add two tags'],
    ['ambientctl tag last planning --remove', 'remove one'],
  ).action((session: string, tags: string[], { remove = false }: { remove?: boolean }) => tag(context, session, tags, remove));
  examples(
    program
      .command('speaker')
      .description('say who speaks on a track, or in single lines')
      .argument('<session>', SESSION_HELP, nonBlank)
      .argument('[name]', 'who it is', nonBlank)
      .addOption(new Option('--track <track>', 'everything on this track').choices(TRACKS))
      .option('--segments <numbers>', 'these lines, such as 1,2 or 5-8: their numbers in `show --numbers`', lineNumbers)
      .option('--clear', 'forget the name instead'),
    ['ambientctl speaker last Priya --track call', 'the whole call track'],
    ['ambientctl speaker last "Dr. Okafor" --segments 3,5-8', 'single lines'],
    ['ambientctl speaker last --clear --track call', 'undo it'],
  ).action((session: string, name: string | undefined, options: SpeakerOptions) => nameSpeaker(context, session, name, options));
}

async function rename(context: CliContext, session: string, name: string): Promise<void> {
  requireFitting('name', SessionName, name);
  const client = await context.connect();
  const { summary } = await client.call('update', { params: { session }, body: { name } });
  context.out.result(summary, () => plain(`${summary.id} is now called "${summary.name ?? ''}".`));
}

async function tag(context: CliContext, session: string, typed: readonly string[], remove: boolean): Promise<void> {
  const given = typed.map(tagArgument);
  for (const text of given) requireFitting('tag', SessionTag, text);
  const client = await context.connect();
  const before = (await client.call('session', { params: { session } })).summary;
  const named = given.map((text) => text.trim());
  const tags = remove
    ? before.tags.filter((text) => !named.includes(text) && !typed.includes(text))
    : [...new Set([...before.tags, ...named])];
  const { summary } = await client.call('update', { params: { session: before.id }, body: { tags } });
  context.out.result(summary, () =>
    plain(summary.tags.length === 0 ? `${summary.id} has no tags.` : `${summary.id} has the tags ${summary.tags.join(', ')}.`),
  );
}

async function nameSpeaker(context: CliContext, session: string, name: string | undefined, options: SpeakerOptions): Promise<void> {
  const { track, segments, clear = false } = options;
  if ((track === undefined) === (segments === undefined))
    throw new UsageError('Say which lines: --track or --segments.', 'For example `ambientctl speaker last Priya --track call`.');
  if ((name === undefined) !== clear) throw new UsageError('Give a name, or --clear.', 'See `ambientctl speaker --help`.');
  if (name !== undefined) requireFitting('speaker', SpeakerName, name);
  const client = await context.connect();
  const reply = await client.call('nameSpeaker', {
    params: { session },
    body: { speaker: name ?? null, ...(track === undefined ? {} : { track }), ...(segments === undefined ? {} : { segments }) },
  });
  context.out.result(reply, () => {
    const lines = `${reply.lines} ${reply.lines === 1 ? 'line' : 'lines'}`;
    return plain(name === undefined ? `The speaker of ${lines} is unknown again.` : `${name} speaks in ${lines}.`);
  });
}
