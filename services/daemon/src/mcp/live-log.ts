import { createHash } from 'node:crypto';
import type { Session } from '../sessions/types.js';
import { gapRow, lineRows, type Row, warningRow } from './rows.js';

/** Rows of a reading without a cursor. */
export const RECENT_ROWS = 100;
/** Lines of one reading with a cursor; the rest comes with the next. */
const MAX_LINES = 500;

/**
 * A place in a session's log. Lines, warnings and gaps are three lists that only grow, each on disk; how they interleave
 * is not kept there. So a cursor counts each of them, and the daemon can restart without moving it.
 */
export interface LogPosition {
  readonly lines: number;
  readonly warnings: number;
  readonly gaps: number;
}

const LINE_SPAN = 2 ** 24;
const EVENT_SPAN = 2 ** 14;

/** One number for a position, growing with it: while nothing but lines came it is their count. */
export function toSequence({ lines, warnings, gaps }: LogPosition): number {
  const cap = (value: number, span: number): number => Math.min(value, span - 1);
  return cap(lines, LINE_SPAN) + LINE_SPAN * (cap(warnings, EVENT_SPAN) + EVENT_SPAN * cap(gaps, EVENT_SPAN));
}

export function fromSequence(sequence: number): LogPosition {
  const events = Math.floor(sequence / LINE_SPAN);
  return { lines: sequence % LINE_SPAN, warnings: events % EVENT_SPAN, gaps: Math.floor(events / EVENT_SPAN) };
}

/** Names the log a cursor belongs to. Made of what is on disk and never changes, so it outlives the daemon. */
export function epochOf(session: Session): string {
  return createHash('sha256').update(`${session.id}\n${session.file.started_at}\n${session.file.origin}`).digest('hex').slice(0, 16);
}

export interface LogReading {
  readonly rows: readonly Row[];
  readonly next: LogPosition;
}

/** What came after `since`. A position past the end reads as the end. */
export async function readSince(session: Session, since: LogPosition): Promise<LogReading> {
  const { warnings, coverage, started_at } = session.file;
  const count = await session.lineCount();
  const from = {
    lines: Math.min(since.lines, count),
    warnings: Math.min(since.warnings, warnings.length),
    gaps: Math.min(since.gaps, coverage.length),
  };
  const to = Math.min(count, from.lines + MAX_LINES);
  const events = [
    ...warnings.slice(from.warnings).map((warning) => warningRow(warning, started_at)),
    ...coverage.slice(from.gaps).map((gap) => gapRow(gap, started_at)),
  ];
  return {
    rows: interleave(await lineRows(session, from.lines, to), events),
    next: { lines: to, warnings: warnings.length, gaps: coverage.length },
  };
}

/** The last rows, for a reader without a cursor. */
export async function readRecent(session: Session): Promise<LogReading> {
  const count = await session.lineCount();
  const { warnings, coverage } = session.file;
  const { rows, next } = await readSince(session, {
    lines: Math.max(0, count - RECENT_ROWS),
    warnings: Math.max(0, warnings.length - RECENT_ROWS),
    gaps: Math.max(0, coverage.length - RECENT_ROWS),
  });
  return { rows: rows.slice(-RECENT_ROWS), next };
}

/** Lines in the order they were published, each event before the first line that began after it. */
function interleave(lines: readonly Row[], events: readonly Row[]): Row[] {
  const rows: Row[] = [];
  const due = [...events].sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  for (const line of lines) {
    const at = Date.parse(line.timestamp);
    for (let next = due[0]; next !== undefined && Date.parse(next.timestamp) < at; next = due[0]) {
      rows.push(next);
      due.shift();
    }
    rows.push(line);
  }
  return [...rows, ...due];
}
