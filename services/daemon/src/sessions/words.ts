/** Scripts written without spaces between words (Hangul with them, but with particles stuck to the words). */
const UNSPACED = [
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Bopomofo',
  'Yi',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
  'Tai_Tham',
  'Javanese',
];
const UNSPACED_LETTER = String.raw`[[\p{L}\p{N}]&&[${UNSPACED.map((script) => String.raw`\p{scx=${script}}`).join('')}]]`;

/** The `v` flag, for set operations, is newer than the language level the project compiles to; every supported Node has it. */
const TOKEN = new RegExp(
  String.raw`(?<letter>${UNSPACED_LETTER}\p{M}*)|[[\p{L}\p{M}\p{N}]--${UNSPACED_LETTER}]+|\p{Extended_Pictographic}`,
  'gv',
);

/** A word of a text: a run of letters and digits, one letter of a script without spaces, or one emoji. */
export interface Word {
  /** Folded by `foldText`. */
  readonly text: string;
  /** Range `[start, end)` in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** True for a letter of a script written without spaces. */
  readonly letter: boolean;
}

/** The words of a text in order. */
export function words(text: string): Word[] {
  const found: Word[] = [];
  TOKEN.lastIndex = 0;
  // Not matchAll: it copies the expression at every call, and compiling these character sets costs more than a line's search.
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    found.push({ text: foldText(token), start: match.index, end: match.index + token.length, letter: match.groups?.letter !== undefined });
  }
  return found;
}

/** Lower case without accents and width variants, so that what looks alike compares equal. */
export function foldText(text: string): string {
  if (/^[a-z0-9]*$/.test(text)) return text;
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ');
}
