import { type RouteReply, type SearchMatch, SearchQuery, TRACKS, type Track } from '@ambient/contract';
import { type Command, Option } from 'commander';
import { requireFitting } from '../args/fitting.js';
import { momentArgument } from '../args/moment.js';
import { nonBlank, tagArgument, wholeNumber } from '../args/values.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { examples } from '../help.js';
import { LEAST_BESIDE } from '../output/lines.js';
import type { View } from '../output/printer.js';
import { plain, textWidth, wrap } from '../output/text.js';
import { clock, localMinute } from '../output/time.js';

interface SearchOptions {
  readonly since?: string;
  readonly until?: string;
  readonly track?: Track;
  readonly speaker?: string;
  readonly tag?: string;
  readonly limit?: number;
}

type Reply = RouteReply<'search'>;
type Match = ReturnType<typeof SearchMatch.parse>;

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('search')
      .description('find sessions by what was said, their names, ids, tags, notes, comments and speakers')
      .argument('<query...>', 'words that must all be there; "quoted words" stand together')
      .option('--since <when>', 'sessions from then on, by the clock of this terminal: 2026-11-30, yesterday, 7d', (text: string) =>
        momentArgument(text),
      )
      .option('--until <when>', 'sessions up to then, a day with all of it', (text: string) => momentArgument(text, 'end'))
      .addOption(new Option('--track <track>', 'only this track').choices(TRACKS))
      .option('--speaker <name>', 'only what this person said', nonBlank)
      .option('--tag <tag>', 'only sessions with this tag', tagArgument)
      .option('--limit <count>', 'at most so many sessions (default 20)', wholeNumber(1, 200)),
    ['ambientctl search budget', 'one word'],
    ['ambientctl search \'"schema change"\' --since 7d', 'words that stand together, in the last week'],
    ['ambientctl search migration --track call --speaker Priya', 'what one person said'],
    ['ambientctl search -- -5', 'a query that begins with a dash'],
  ).action((words: string[], options: SearchOptions) => search(context, words.join(' '), options));
}

async function search(context: CliContext, q: string, options: SearchOptions): Promise<void> {
  if (q.trim() === '') throw new UsageError('The search text is empty.', 'For example `ambientctl search budget`.');
  requireFitting('q', SearchQuery.shape.q, q);
  const { since, until } = options;
  if (since !== undefined && until !== undefined && Date.parse(since) > Date.parse(until))
    throw new UsageError('--since lies after --until: no session can be between them.', 'Exchange the two.');
  const client = await context.connect();
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const reply = await client.call('search', { query: { q, ...given } });
  context.out.result(reply, (view) => hitsText(q, reply, view));
  if (reply.unavailable > 0)
    context.out.note(
      `${reply.unavailable} session${reply.unavailable === 1 ? '' : 's'} could not be searched: \`ambientctl sessions\` shows which are broken.`,
    );
}

function hitsText(q: string, reply: Reply, view: View): string {
  if (reply.sessions.length === 0) return plain(`Nothing found for "${q}".`);
  const blocks = reply.sessions.map((session) => {
    const title = [session.id, session.started_at === null ? '' : localMinute(session.started_at), session.name ?? ''];
    const head = wrap(plain(title.filter((part) => part !== '').join('  ')), view.width).map((line) => view.paint('bold', line));
    return [...head, ...session.matches.map((match) => matchText(match, view)), ...moreText(session, view)].join('\n');
  });
  const more = reply.has_more ? [`${reply.total} sessions match; --limit shows more.`] : [];
  return [...blocks, ...more].join('\n\n');
}

function moreText({ id, matches, match_count = matches.length }: Reply['sessions'][number], { width, paint }: View): string[] {
  const more = match_count - matches.length;
  if (more <= 0) return [];
  return wrap(plain(`  ${more} more in this session: ambientctl show ${id}`), width).map((line) => paint('dim', line));
}

function matchText({ start_ms, track, speaker, snippet, field }: Match, { width, paint }: View): string {
  const where = field === 'text' ? `${start_ms === null ? '' : clock(start_ms)}  ${track ?? ''}` : field;
  const head = `  ${where.trim()}  `;
  const who = speaker === null || field === 'speaker' ? '' : `${plain(speaker)}: `;
  const beneath = width - textWidth(head) < LEAST_BESIDE;
  const hang = ' '.repeat(beneath ? 4 : textWidth(head));
  const lines = wrap(`${who}${plain(snippet)}`, width - hang.length).map((line) => line.replace(/«[^»]*»/g, (word) => paint('bold', word)));
  if (beneath) return [paint('dim', head.trimEnd()), ...lines.map((line) => hang + line)].join('\n');
  return lines.map((line, i) => (i === 0 ? paint('dim', head) : hang) + line).join('\n');
}
