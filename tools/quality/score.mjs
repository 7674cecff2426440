/** Word error rate as ../shared/speech/README.md defines it: normalisation, edit distance, totals. */

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** Words of a text: lower case, punctuation out, hyphens to spaces, digits zero to ten as words, bracketed notes out. */
export function words(text) {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll('-', ' ')
    .replace(/<[^>]*>|\[[^\]]*\]/g, ' ')
    .replace(/[^\p{L}\p{N}_' ]/gu, ' ')
    .split(/\s+/)
    .map((word) => word.replace(/^'+|'+$/g, ''))
    .filter((word) => word !== '')
    .map((word) => DIGITS[Number(word)] ?? word);
}

/** Fewest insertions, deletions and substitutions that turn one list of words into the other. */
export function distance(reference, hypothesis) {
  let row = Array.from({ length: hypothesis.length + 1 }, (_, i) => i);
  for (const [i, word] of reference.entries()) {
    const next = [i + 1];
    for (const [j, heard] of hypothesis.entries()) next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (word === heard ? 0 : 1)));
    row = next;
  }
  return row.at(-1);
}

/** Rows of a tab-separated file with quoted fields, as objects by column. */
export function readTable(text) {
  const [header, ...rows] = text
    .replace(/\r/g, '')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map(unquote));
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ''])));
}

const unquote = (field) => (field.startsWith('"') && field.endsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);

/** True for a row whose reference counts: English with a shipped or known transcript, or audio without speech. */
export function counts({ ref_kind: kind, lang, categories }) {
  if (!['human', 'test', 'known', 'nonspeech'].includes(kind)) return false;
  if (kind !== 'nonspeech' && !lang.startsWith('en')) return false;
  return !categories.includes('code-switch') && !categories.includes('digits');
}

/**
 * @param rows of the manifest
 * @param texts file → what was recognised
 * @returns {{ wer: number, errors: number, words: number, invented: number, missing: string[], worst: { file: string, wer: number, text: string }[] }}
 */
export function score(rows, texts) {
  const result = { wer: 0, errors: 0, words: 0, invented: 0, missing: [], worst: [] };
  for (const row of rows.filter(counts)) {
    const text = texts.get(row.file);
    if (text === undefined) result.missing.push(row.file);
    else if (row.ref_kind === 'nonspeech') result.invented += words(text).length;
    else {
      const reference = words(row.reference);
      const errors = distance(reference, words(text));
      result.errors += errors;
      result.words += reference.length;
      result.worst.push({ file: row.file, wer: errors / Math.max(1, reference.length), text });
    }
  }
  result.wer = result.errors / result.words;
  result.worst = result.worst.sort((a, b) => b.wer - a.wer).slice(0, 8);
  return result;
}
