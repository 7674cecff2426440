import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AmbientError } from '@ambient/contract';
import type { Command } from 'commander';
import { wholeNumber } from '../args/values.js';
import type { CliContext } from '../context.js';
import { examples, group } from '../help.js';
import { interruptible } from '../interrupt.js';
import type { Paint } from '../output/paint.js';
import { plain } from '../output/text.js';

const POLL_MS = 300;
/** Bytes read from the end of each file: some thousands of lines. */
const TAIL_BYTES = 1024 * 1024;
const LEVELS: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

export function register(program: Command, context: CliContext): void {
  examples(
    group(program, 'daemon', 'run, start and stop the background daemon')
      .command('logs')
      .description("show the daemon's log; it never holds a transcript's text")
      .option('-n, --lines <count>', 'how many lines from the end', wholeNumber(1, 100_000), 50)
      .option('-f, --follow', 'go on with new lines until Ctrl-C (with --json: one object a line)'),
    ['ambientctl daemon logs', 'the last 50 lines'],
    ['ambientctl daemon logs -n 500 --json', 'as an array of objects'],
    ['ambientctl daemon logs --follow', 'watch it'],
  ).action((options: { lines: number; follow?: boolean }) => logs(context, options));
}

async function logs(context: CliContext, { lines: count, follow = false }: { lines: number; follow?: boolean }): Promise<void> {
  const { paths, out } = context;
  const files = await logFiles(paths.logs);
  if (files.length === 0)
    throw new AmbientError('not_found', `There is no log in ${paths.logs}.`, 'Start the daemon with `ambientctl daemon start`.');
  const seen = new Map<string, number>();
  const tail: string[] = [];
  for (const file of files) {
    const { lines, end } = await readLines(file, Math.max(0, (await stat(file)).size - TAIL_BYTES));
    seen.set(file, end);
    tail.push(...lines);
  }
  const entries = tail.slice(-count).map(parseEntry);
  if (!follow) {
    out.result(entries, ({ paint }) => entries.map((entry) => render(entry, paint)).join('\n'));
    return;
  }
  const print = (entry: Entry): void => (out.json ? out.value(entry) : out.line(render(entry, out.view.paint)));
  entries.forEach(print);
  await interruptible(async (signal) => {
    while (!signal.aborted) {
      for (const file of await logFiles(paths.logs)) {
        const { lines, end } = await readLines(file, seen.get(file) ?? 0);
        seen.set(file, end);
        lines.map(parseEntry).forEach(print);
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  });
}

/** Log files, the one written last at the end. */
async function logFiles(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((): string[] => []);
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.log'))
      .map(async (name) => {
        const file = path.join(dir, name);
        return { file, mtime: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
  );
  return files.sort((a, b) => a.mtime - b.mtime).map(({ file }) => file);
}

/** Complete lines from a byte offset on, and the offset after the last of them. */
async function readLines(file: string, from: number): Promise<{ lines: string[]; end: number }> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return { lines: [], end: from };
  try {
    const { size } = await handle.stat();
    // A file that shrank was started anew.
    const start = size < from ? 0 : from;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, undefined, start);
    const last = buffer.lastIndexOf(0x0a, bytesRead);
    if (last === -1) return { lines: [], end: start };
    const lines = buffer.toString('utf8', 0, last).split('\n');
    return { lines: lines.filter((line) => line.trim() !== ''), end: start + last + 1 };
  } finally {
    await handle.close();
  }
}

type Entry = Record<string, unknown>;

function parseEntry(line: string): Entry {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Entry;
  } catch {
    // What the daemon says before its log is open is no JSON.
  }
  return { msg: line };
}

function render(entry: Entry, paint: Paint): string {
  const { time, level, msg, pid: _pid, ...rest } = entry;
  const name = typeof level === 'number' ? (LEVELS[level] ?? String(level)) : '';
  const more = Object.entries(rest).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const colour = name === 'error' || name === 'fatal' ? 'red' : name === 'warn' ? 'yellow' : 'dim';
  return [
    typeof time === 'string' ? paint('dim', plain(time)) : '',
    name === '' ? '' : paint(colour, name.padEnd(5)),
    plain(String(msg ?? '')),
    paint('dim', plain(more.join(' '))),
  ]
    .filter((part) => part !== '')
    .join(' ');
}
