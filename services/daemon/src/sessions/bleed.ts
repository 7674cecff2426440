import type { RawLine } from '@ambient/contract';
import { words } from './words.js';

/** How far a room line may reach out of the call line it repeats, ms: loudspeakers and echo lag, and both tracks cut their turns differently. */
export const BLEED_SLACK_MS = 1500;
/** Share of a room line's words that must be the call's, in order. Heard through the air, a recogniser misses up to a third. */
export const BLEED_WORDS = 0.6;
/** Share of its neighbouring word pairs that must be the call's too: common words alone also match by chance, pairs do not. */
export const BLEED_PAIRS = 0.3;
/** A line of fewer words must be the call line as a whole, at the same moment: "yes" is often said by both. */
export const BLEED_MIN_WORDS = 3;
export const BLEED_SHORT_SLACK_MS = 500;

type Heard = Pick<RawLine, 'track' | 'start_ms' | 'end_ms' | 'text'>;
interface Placed {
  readonly text: string;
  /** Estimated time, ms. */
  readonly at: number;
}

/**
 * Finds room lines that are the call heard through the loudspeakers: they overlap call lines in time and share most of
 * their words. What somebody in the room really says at the same time is kept.
 * @returns for each line, whether it is bleed
 */
export function suppressBleed(lines: readonly Heard[]): boolean[] {
  const calls = lines.filter((line) => line.track === 'call' && line.text !== '').toSorted((a, b) => a.start_ms - b.start_ms);
  const longest = Math.max(0, ...calls.map((call) => call.end_ms - call.start_ms));
  return lines.map((line) => {
    if (line.track !== 'room' || line.text === '') return false;
    const near: Heard[] = [];
    const from = line.start_ms - BLEED_SLACK_MS;
    for (let i = firstFrom(calls, from - longest); i < calls.length; i++) {
      const call = calls[i];
      if (call === undefined || call.start_ms > line.end_ms + BLEED_SLACK_MS) break;
      if (call.end_ms >= from) near.push(call);
    }
    return near.length > 0 && repeats(line, near);
  });
}

/** Index of the first call that starts at or after `ms`. */
function firstFrom(calls: readonly Heard[], ms: number): number {
  let low = 0;
  let high = calls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((calls[middle]?.start_ms ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

function repeats(room: Heard, calls: readonly Heard[]): boolean {
  const said = words(room.text).map((word) => word.text);
  if (said.length < BLEED_MIN_WORDS) return calls.some((call) => isSameMoment(room, call) && sameWords(said, call));
  const covered = calls.reduce((sum, call) => sum + overlapMs(room, call, BLEED_SLACK_MS / 2), 0);
  if (covered < (room.end_ms - room.start_ms) / 2) return false;
  const heard = calls
    .flatMap(place)
    .filter(({ at }) => at >= room.start_ms - BLEED_SLACK_MS && at <= room.end_ms + BLEED_SLACK_MS)
    .map(({ text }) => text);
  return commonInOrder(said, heard) >= BLEED_WORDS * said.length && commonPairs(said, heard) >= BLEED_PAIRS * (said.length - 1);
}

function isSameMoment(a: Heard, b: Heard): boolean {
  return Math.abs(a.start_ms - b.start_ms) <= BLEED_SHORT_SLACK_MS && Math.abs(a.end_ms - b.end_ms) <= BLEED_SHORT_SLACK_MS;
}

function sameWords(said: readonly string[], call: Heard): boolean {
  return said.join(' ') === words(call.text).map((word) => word.text).join(' '); // biome-ignore format: one comparison
}

function overlapMs(room: Heard, call: Heard, slack: number): number {
  return Math.max(0, Math.min(room.end_ms, call.end_ms + slack) - Math.max(room.start_ms, call.start_ms - slack));
}

/** Words of a line at the times they have when spread evenly over it. */
function place(line: Heard): Placed[] {
  const found = words(line.text);
  const step = (line.end_ms - line.start_ms) / Math.max(1, found.length);
  return found.map((word, i) => ({ text: word.text, at: line.start_ms + (i + 0.5) * step }));
}

/** Length of the longest common subsequence. */
function commonInOrder(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (let j = 1; j <= b.length; j++) {
      next.push(b[j - 1] === word ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** How many neighbouring pairs of `a` are neighbours in `b` too. */
function commonPairs(a: readonly string[], b: readonly string[]): number {
  const pairs = (list: readonly string[]) => list.slice(1).map((word, i) => `${list[i]} ${word}`);
  const present = new Set(pairs(b));
  return pairs(a).filter((pair) => present.has(pair)).length;
}
