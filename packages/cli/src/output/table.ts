import { noPaint, type Paint } from './paint.js';
import { padEnd, padStart, textWidth, wrap } from './text.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Gives way when the terminal is narrow. */
  readonly flexible?: boolean;
  /** Colours a finished cell. */
  readonly paint?: (cell: string, row: number) => string;
}

const GAP = '  ';
/** A flexible column narrower than this is no longer read with ease; rows are stacked instead. */
const LEAST_FLEXIBLE = 16;

/**
 * An aligned table of one-line cells (already made safe by `plain`). Flexible columns wrap to keep within `width`;
 * where even that is too wide, each row becomes a block of `TITLE  value` lines.
 */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number, paint: Paint = noPaint): string {
  const natural = columns.map((column, i) => Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[i] ?? ''))));
  const widths = fit(columns, natural, width);
  if (widths === undefined) return stack(columns, rows, width);
  const head = columns.map((column, i) => align(column, column.title.toUpperCase(), widths[i] ?? 0)).join(GAP);
  const body = rows.flatMap((row, r) => renderRow(columns, row, r, widths));
  return [paint('bold', head.trimEnd()), ...body].join('\n');
}

function fit(columns: readonly Column[], natural: readonly number[], width: number): number[] | undefined {
  const total = natural.reduce((sum, w) => sum + w, 0) + GAP.length * (columns.length - 1);
  if (total <= width) return [...natural];
  const flexible = columns.flatMap((column, i) => (column.flexible === true ? [i] : []));
  const fixed = total - flexible.reduce((sum, i) => sum + (natural[i] ?? 0), 0);
  if (flexible.length === 0 || width - fixed < LEAST_FLEXIBLE * flexible.length) return undefined;
  // The widest gives way first.
  const widths = [...natural];
  for (let excess = total - width; excess > 0; excess -= 1) {
    const widest = flexible.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function renderRow(columns: readonly Column[], row: readonly string[], r: number, widths: readonly number[]): string[] {
  const cells = columns.map((_, i) => wrap(row[i] ?? '', widths[i] ?? 0));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, n) =>
    columns
      .map((column, i) => {
        const cell = align(column, cells[i]?.[n] ?? '', widths[i] ?? 0);
        return column.paint ? column.paint(cell, r) : cell;
      })
      .join(GAP)
      .trimEnd(),
  );
}

function align(column: Column, text: string, width: number): string {
  return column.align === 'right' ? padStart(text, width) : padEnd(text, width);
}

function stack(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  return rows
    .map((row) =>
      fields(
        columns.flatMap((column, i): [string, string][] => ((row[i] ?? '') === '' ? [] : [[column.title, row[i] ?? '']])),
        width,
      ),
    )
    .join('\n\n');
}

/** `Title  value` lines with the values aligned and wrapped beneath themselves. */
export function fields(pairs: readonly (readonly [string, string])[], width: number, paint: Paint = noPaint): string {
  const label = Math.max(0, ...pairs.map(([title]) => textWidth(title)));
  const hang = label + GAP.length;
  return pairs
    .flatMap(([title, value]) =>
      wrap(value, Math.max(8, width - hang)).map((line, i) =>
        i === 0 ? `${paint('dim', padEnd(title, label))}${GAP}${line}`.trimEnd() : ' '.repeat(hang) + line,
      ),
    )
    .join('\n');
}
