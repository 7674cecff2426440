/** A phrase said several times in a row inside a text. Positions count words. */
export interface Repeat {
  readonly at: number;
  /** Words of the phrase. */
  readonly words: number;
  readonly times: number;
}

/** The repeat that spans most words, the shortest phrase of those; undefined when nothing is said twice in a row. */
export function findRepeat(text: string): Repeat | undefined {
  const spoken = plainWords(text);
  let found: Repeat | undefined;
  for (let words = 1; words <= spoken.length >> 1; words++)
    for (let at = 0; at + 2 * words <= spoken.length; at++) {
      const times = timesInARow(spoken, at, words);
      if (times > 1 && words * times > (found === undefined ? 0 : found.words * found.times)) found = { at, words, times };
    }
  return found;
}

/** The text with the phrase said `times` times, beginning as its first and ending as its last copy did. */
export function shortened(text: string, repeat: Repeat, times: number): string {
  const all = text.split(/\s+/);
  const end = repeat.at + repeat.words * repeat.times;
  const kept = all.slice(repeat.at, repeat.at + repeat.words * times);
  const last = kept.at(-1);
  if (last !== undefined) kept[kept.length - 1] = last.replace(TAIL, '') + (TAIL.exec(all[end - 1] ?? '')?.[0] ?? '');
  return [...all.slice(0, repeat.at), ...kept, ...all.slice(end)].join(' ');
}

/**
 * As often as the time allows: says the repeated phrase once less for as long as the text is faster than people speak.
 * @param seconds of voice in the audio
 */
export function withinSpeakingRate(text: string, seconds: number): string {
  for (let said = text, repeat = findRepeat(said); ; repeat = findRepeat(said)) {
    if (repeat === undefined || letters(said) <= FASTEST_LETTERS_PER_SECOND * seconds) return said;
    said = shortened(said, repeat, repeat.times - 1);
  }
}

/** Of the text with its phrase said one to `times` times, the one most like another reading; as it is when two are equal. */
export function mostLike(other: string, text: string, repeat: Repeat): string {
  const heard = plainWords(other);
  let best = text;
  let least = difference(heard, plainWords(text));
  for (let times = repeat.times - 1; times > 0; times--) {
    const said = shortened(text, repeat, times);
    const away = difference(heard, plainWords(said));
    if (away < least) [best, least] = [said, away];
  }
  return best;
}

/** Letters in a second of voice that no speaker reaches: of 133 turns of speech the median is 13, the fastest 22.1. */
export const FASTEST_LETTERS_PER_SECOND = 23;

/** What follows a word's last letter or digit. */
const TAIL = /[^\p{L}\p{N}]*$/u;

/** One entry for each piece between spaces, so that positions hold for both. */
function plainWords(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase().replace(/[^\p{L}\p{N}']/gu, ''));
}

function timesInARow(spoken: readonly string[], at: number, words: number): number {
  let times = 1;
  const same = (i: number): boolean => spoken[at + i] !== '' && spoken[at + i] === spoken[at + times * words + i];
  while (Array.from({ length: words }, (_, i) => i).every(same)) times++;
  return times;
}

function letters(text: string): number {
  return text.replace(/[^\p{L}\p{N}]/gu, '').length;
}

/** How unlike two lists of words are, 0..1: words to insert, leave out or replace, of the longer one's. */
function difference(from: readonly string[], to: readonly string[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, word] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (word === other ? 0 : 1)));
    row = next;
  }
  return (row.at(-1) ?? 0) / Math.max(1, from.length, to.length);
}
