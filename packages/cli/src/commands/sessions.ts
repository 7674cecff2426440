import { SessionRow, type SessionSummary } from '@ambient/contract';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples } from '../help.js';
import { sortKeys } from '../output/json.js';
import type { Paint } from '../output/paint.js';
import { table } from '../output/table.js';
import { plain } from '../output/text.js';
import { length, localMinute } from '../output/time.js';

export function register(program: Command, context: CliContext): void {
  examples(
    program.command('sessions').description('list sessions, newest first'),
    ['ambientctl sessions', 'all of them'],
    ['ambientctl sessions --json', 'the rows an agent sees, plus `state`'],
  ).action(() => sessions(context));
}

async function sessions(context: CliContext): Promise<void> {
  const client = await context.connect();
  const { sessions: rows } = await client.call('sessions', { query: {} }, { timeoutMs: 120_000 });
  context.out.result(rows.map(contractRow), ({ width, paint }) => {
    if (rows.length === 0) return 'No sessions yet. Record one with `ambientctl start`, or `ambientctl import FILE`.';
    return table(
      [
        { title: 'Id' },
        { title: 'Started' },
        { title: 'Length', align: 'right' },
        { title: 'State', paint: (cell, row) => paintState(cell, rows[row], paint) },
        { title: 'Name', flexible: true },
      ],
      rows.map((row) => [
        plain(row.id),
        row.started_at === null ? '' : localMinute(row.started_at),
        row.duration_s === null ? '' : length(row.duration_s * 1000),
        row.state,
        nameCell(row),
      ]),
      width,
      paint,
    );
  });
}

function contractRow(row: SessionSummary): object {
  return sortKeys({ ...SessionRow.parse(row), state: row.state });
}

function nameCell({ name, tags, pinned, warning_count, error }: SessionSummary): string {
  const parts = [
    pinned ? '[pinned]' : '',
    name ?? '',
    tags.map((tag) => `#${tag}`).join(' '),
    error === null ? '' : `(${error})`,
    warning_count === 0 ? '' : `(${warning_count} ${warning_count === 1 ? 'warning' : 'warnings'})`,
  ];
  return plain(parts.filter((part) => part !== '').join(' '));
}

function paintState(cell: string, row: SessionSummary | undefined, paint: Paint): string {
  if (row === undefined) return cell;
  if (row.state === 'live') return paint('red', cell);
  if (row.state === 'broken') return paint(['bold', 'red'], cell);
  if (row.state === 'interrupted') return paint('yellow', cell);
  return row.state === 'done' ? cell : paint('cyan', cell);
}
