import { type Word, words } from '../sessions/words.js';
import type { QueryGroup } from './terms.js';

/** Length of a snippet in UTF-16 units, and how much of it stands before the first match. */
const LENGTH = 160;
const BEFORE = 40;

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A stretch of `text` around its first match, with matched words between « and »; `…` where it was cut. */
export function snippet(text: string, groups: readonly QueryGroup[]): string {
  const list = words(text);
  const found = merge(list.flatMap((_, i) => groups.flatMap((group) => matchAt(list, i, group) ?? [])));
  const window = windowAround(text, list, found[0]?.start ?? 0);
  let shown = '';
  let at = window.start;
  for (const { start, end } of found) {
    if (start < at || end > window.end) continue;
    shown += `${text.slice(at, start)}«${text.slice(start, end)}»`;
    at = end;
  }
  shown = (shown + text.slice(at, window.end)).replace(/\s+/g, ' ').trim();
  return `${window.start > 0 ? '…' : ''}${shown}${window.end < text.length ? '…' : ''}`;
}

function matchAt(list: readonly Word[], at: number, group: QueryGroup): Range | undefined {
  const lastWanted = group.words.length - 1;
  const equal = group.words.every((wanted, i) => {
    const word = list[at + i];
    const open = group.prefix && i === lastWanted;
    return word !== undefined && (open ? word.text.startsWith(wanted.text) : word.text === wanted.text);
  });
  const first = list[at];
  const last = list[at + lastWanted];
  return equal && first && last ? { start: first.start, end: last.end } : undefined;
}

function merge(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    else merged.push(range);
  }
  return merged;
}

/** Cuts between words, and takes more from one side when the other has less. */
function windowAround(text: string, list: readonly Word[], match: number): Range {
  if (text.length <= LENGTH) return { start: 0, end: text.length };
  const wanted = Math.max(0, Math.min(match - BEFORE, text.length - LENGTH));
  const start = wanted === 0 ? 0 : (list.find((word) => word.start >= wanted && word.start <= match)?.start ?? match);
  const limit = start + LENGTH;
  const end = limit >= text.length ? text.length : (list.findLast((word) => word.end <= limit && word.end > start)?.end ?? limit);
  return { start, end };
}
