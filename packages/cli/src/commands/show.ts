import type { RouteReply, SessionFile, VerboseLine } from '@ambient/contract';
import type { Command } from 'commander';
import { nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { examples, SESSION_HELP } from '../help.js';
import { contractLine, lineText } from '../output/lines.js';
import type { View } from '../output/printer.js';
import { table } from '../output/table.js';
import { padStart, plain, plainDocument, wrap } from '../output/text.js';
import { clock, length, localMinute } from '../output/time.js';

interface ShowOptions {
  readonly verbatim?: boolean;
  readonly coverage?: boolean;
  readonly numbers?: boolean;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('show')
      .description("print a session's transcript")
      .argument('<session>', SESSION_HELP, nonBlank)
      .option('--verbatim', 'what was heard: no edits, and with the lines that were left out as speakerphone bleed')
      .option('--numbers', 'with the number of each line, as `speaker --segments` takes it (with --json: `segment`)')
      .option('--coverage', 'what was not heard, and why'),
    ['ambientctl show last', 'read the last session'],
    ['ambientctl show 2026-11-30T16 --json', 'its lines as an array; any unique prefix will do'],
    ['ambientctl show last --numbers', 'before `ambientctl speaker last NAME --segments 3,5-8`'],
    ['ambientctl show live --coverage', 'what is missing so far'],
  ).action((session: string, options: ShowOptions) => show(context, session, options));
}

async function show(
  context: CliContext,
  session: string,
  { verbatim = false, coverage = false, numbers = false }: ShowOptions,
): Promise<void> {
  const client = await context.connect();
  const params = { session };
  if (coverage) {
    const reply = await client.call('coverage', { params });
    context.out.result(reply, (view) => coverageText(reply, view));
    return;
  }
  // Lines first: a session that cannot be read is then an error in both forms.
  const { session: id, lines } = await client.call('lines', { params, query: { verbatim: verbatim ? 'true' : 'false' } });
  const shown = lines.filter((line) => !line.struck && !line.unreadable && (verbatim || !line.bleed));
  const detail = await client.call('session', { params: { session: id } });
  context.out.result(
    shown.map((line) => ({
      ...contractLine(line),
      ...(verbatim && line.bleed ? { bleed: true } : {}),
      ...(numbers ? { segment: line.segment } : {}),
    })),
    (view) =>
      [...header(detail, view), '', ...body(shown, lines, detail, { verbatim, numbers }, view), ...notesText(detail, view)].join('\n'),
  );
}

type Detail = RouteReply<'session'>;

function header({ summary, file }: Detail, { width, paint }: View): string[] {
  const { id, name, started_at, duration_s, state, speakers, tags } = summary;
  const facts = [
    started_at === null ? '' : localMinute(started_at),
    duration_s === null ? '' : length(duration_s * 1000),
    state,
    speakers.length === 0 ? '' : `with ${speakers.join(', ')}`,
    tags.map((tag) => `#${tag}`).join(' '),
  ];
  return [
    ...wrap(plain(name === null ? id : `${name} (${id})`), width).map((line) => paint('bold', line)),
    ...wrap(plain(facts.filter((fact) => fact !== '').join(', ')), width),
    ...warningLines(file, width).map((line) => paint('yellow', line)),
  ];
}

function warningLines(file: SessionFile | null, width: number): string[] {
  return (file?.warnings ?? []).flatMap(({ message, hint, from_ms, to_ms }) => {
    const where = from_ms === undefined ? '' : ` (${clock(from_ms)}${to_ms === undefined ? '' : ` to ${clock(to_ms)}`})`;
    return wrap(plain(`Warning${where}: ${message}${hint === undefined ? '' : ` ${hint}`}`), width);
  });
}

function body(
  shown: readonly VerboseLine[],
  all: readonly VerboseLine[],
  { summary }: Detail,
  { verbatim, numbers }: { verbatim: boolean; numbers: boolean },
  view: View,
): string[] {
  const digits = String(all.length).length;
  const complete = summary.state === 'done' || summary.state === 'interrupted';
  const struck = all.filter((line) => line.struck).length;
  const bleed = verbatim ? 0 : all.filter((line) => line.bleed && !line.struck).length;
  const lines = [...shown]
    .sort((a, b) => a.start_ms - b.start_ms || a.segment - b.segment)
    .map((line) =>
      lineText(line, view, {
        mark: line.bleed ? 'heard through the speakers' : undefined,
        number: numbers ? padStart(String(line.segment), digits) : undefined,
      }),
    );
  if (lines.length === 0) lines.push(complete ? 'Nothing was said.' : 'No lines yet.');
  const notes = [
    bleed === 0 ? '' : `${count(bleed, 'line')} heard through the speakers left out; --verbatim shows them.`,
    struck === 0 ? '' : `${count(struck, 'line')} struck.`,
    complete || summary.state === 'broken' ? '' : `Not complete yet: read along with \`ambientctl follow ${plain(summary.id)}\`.`,
  ].filter((note) => note !== '');
  return notes.length === 0
    ? lines
    : [...lines, '', ...notes.flatMap((note) => wrap(note, view.width)).map((note) => view.paint('dim', note))];
}

/** What the user wrote about the session, after everything that was said. */
function notesText({ file }: Detail, { width, paint }: View): string[] {
  const notes = file?.notes.trim() ?? '';
  if (notes === '') return [];
  return [
    '',
    paint('bold', 'Notes:'),
    ...plainDocument(notes)
      .split('\n')
      .flatMap((line) => wrap(line, width)),
  ];
}

function coverageText({ session, gaps, duration_s }: RouteReply<'coverage'>, { width, paint }: View): string {
  const whole = duration_s === null ? '' : ` (${length(duration_s * 1000)})`;
  if (gaps.length === 0) return plain(`Everything was heard in ${session}${whole}.`);
  return table(
    [
      { title: 'Track' },
      { title: 'From', align: 'right' },
      { title: 'To', align: 'right' },
      { title: 'Length', align: 'right' },
      { title: 'Why', flexible: true },
    ],
    gaps.map(({ track, from_ms, to_ms, reason }) => [
      track,
      clock(from_ms),
      clock(to_ms),
      length(to_ms - from_ms),
      reason.replaceAll('_', ' '),
    ]),
    width,
    paint,
  );
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
