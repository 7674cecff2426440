import type { Check } from '@ambient/contract';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { allChecks } from '../doctor/index.js';
import { ReportedFailure } from '../errors.js';
import { examples } from '../help.js';
import type { Paint } from '../output/paint.js';
import type { View } from '../output/printer.js';
import { table } from '../output/table.js';
import { plain } from '../output/text.js';

const WORDS = { ok: 'ok', warning: 'warn', failure: 'FAIL' } as const;

export function register(program: Command, context: CliContext): void {
  examples(
    program.command('doctor').description('check that everything works; exit 1 when something does not'),
    ['ambientctl doctor', 'a table, and what to do'],
    ['ambientctl doctor --json', 'an object with `checks` and `healthy`'],
  ).action(() => doctor(context));
}

async function doctor(context: CliContext): Promise<void> {
  const checks = await allChecks(context);
  const healthy = checks.every(({ status }) => status !== 'failure');
  context.out.result({ checks, healthy }, (view) => reportText(checks, view));
  if (!healthy) throw new ReportedFailure();
}

function reportText(checks: readonly Check[], { width, paint }: View): string {
  const rows = checks.flatMap(({ status, title, detail, fix }) => {
    const row = [WORDS[status], plain(title), plain(detail)];
    return fix === undefined || status === 'ok' ? [row] : [row, ['', '', plain(`-> ${fix}`)]];
  });
  const failures = checks.filter(({ status }) => status === 'failure').length;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  const columns = [{ title: '', paint: (cell: string) => paintWord(cell, paint) }, { title: 'Check' }, { title: 'Found', flexible: true }];
  return [table(columns, rows, width, paint), '', summary(failures, warnings)].join('\n');
}

function paintWord(cell: string, paint: Paint): string {
  const word = cell.trim();
  if (word === WORDS.failure) return paint(['bold', 'red'], cell);
  if (word === WORDS.warning) return paint('yellow', cell);
  return word === WORDS.ok ? paint('green', cell) : cell;
}

function summary(failures: number, warnings: number): string {
  if (failures === 0 && warnings === 0) return 'All is well.';
  const parts = [
    failures === 0 ? '' : `${failures} ${failures === 1 ? 'failure' : 'failures'}`,
    warnings === 0 ? '' : `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
  ];
  return `${parts.filter((part) => part !== '').join(', ')}: the lines with -> say what to do.`;
}
