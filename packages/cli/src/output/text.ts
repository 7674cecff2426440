import { stripVTControlCharacters } from 'node:util';

/** C0, DEL, C1, line separators and the controls that reorder text: all of them can forge or hide what a terminal shows. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const CONTROLS_BUT_LAYOUT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Makes text from elsewhere (names, transcripts, paths) safe for one line of a terminal. */
export function plain(text: string): string {
  return text.replace(/\t/g, ' ').replace(CONTROLS, visible);
}

/** As `plain`, but keeps line ends and tabs: for whole documents. */
export function plainDocument(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROLS_BUT_LAYOUT, visible);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

function graphemeWidth(grapheme: string): number {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Columns that `text` takes on a terminal; our own colour codes take none. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += graphemeWidth(segment);
  return width;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text))) + text;
}

/** Lines of at most `width` columns, broken at spaces, or inside a word that is longer than a line. At least one line. */
export function wrap(text: string, width: number): string[] {
  if (!Number.isFinite(width) || textWidth(text) <= width) return [text];
  const limit = Math.max(1, width);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((part) => pieces(part, limit))) {
    const joined = line === '' ? word.text : word.glued ? line + word.text : `${line} ${word.text}`;
    if (textWidth(joined) <= limit) {
      line = joined;
      continue;
    }
    lines.push(line);
    line = word.text;
  }
  lines.push(line);
  return lines;
}

/** A word cut so that each piece fits a line; `glued` pieces follow their predecessor without a space. */
function pieces(word: string, limit: number): { text: string; glued: boolean }[] {
  if (textWidth(word) <= limit) return [{ text: word, glued: false }];
  const result: { text: string; glued: boolean }[] = [];
  let piece = '';
  for (const { segment } of graphemes.segment(word)) {
    if (piece !== '' && textWidth(piece) + graphemeWidth(segment) > limit) {
      result.push({ text: piece, glued: result.length > 0 });
      piece = '';
    }
    piece += segment;
  }
  if (piece !== '') result.push({ text: piece, glued: result.length > 0 });
  return result;
}
