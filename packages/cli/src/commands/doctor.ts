import type { Check } from '@ambient/contract';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { allChecks } from '../doctor/index.js';
import { ReportedFailure } from '../errors.js';
import { examples } from '../help.js';
import type { Paint } from '../output/paint.js';
import type { View } from '../output/printer.js';
import { table } from '../output/table.js';
import { plain, wrap } from '../output/text.js';

const WORDS = { ok: 'ok', warning: 'warn', failure: 'FAIL' } as const;

/** Below so many columns there is no room for three of ours. */
const NARROW = 60;

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

function reportText(checks: readonly Check[], view: View): string {
  const failures = checks.filter(({ status }) => status === 'failure').length;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  const body = view.width < NARROW ? checks.flatMap((check) => block(check, view)).join('\n') : columns(checks, view);
  return [body, '', ...wrap(summary(failures, warnings), view.width)].join('\n');
}

function columns(checks: readonly Check[], { width, paint }: View): string {
  const rows = checks.flatMap((check) => {
    const row = [WORDS[check.status], plain(check.title), plain(check.detail)];
    return fixOf(check) === undefined ? [row] : [row, ['', '', `-> ${fixOf(check)}`]];
  });
  const layout = [{ title: '', paint: (cell: string) => paintWord(cell, paint) }, { title: 'Check' }, { title: 'Found', flexible: true }];
  return table(layout, rows, width, paint);
}

/** One check on a narrow terminal: what is found stands beneath its title. */
function block(check: Check, { width, paint }: View): string[] {
  const indent = '      ';
  const below = [plain(check.detail), ...(fixOf(check) === undefined ? [] : [`-> ${fixOf(check)}`])];
  return [
    `${paintWord(WORDS[check.status].padEnd(4), paint)}  ${wrap(plain(check.title), width - indent.length).join(`\n${indent}`)}`,
    ...below.flatMap((text) => wrap(text, width - indent.length)).map((line) => indent + line),
  ];
}

function fixOf({ status, fix }: Check): string | undefined {
  return status === 'ok' || fix === undefined ? undefined : plain(fix);
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
