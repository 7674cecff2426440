import { type Word, words } from '../sessions/words.js';

/** Words of a query beyond this many are passed over. */
const MAX_GROUPS = 32;
/** The last word of a query also matches longer words when it has this many letters. */
const MIN_PREFIX = 3;

/**
 * A text as the index holds it: folded words, and overlapping pairs of letters for scripts without spaces, so that any part of
 * such a text is found: 会議室 becomes `会議 議室 室`.
 */
export function indexTerms(text: string): string {
  return termsOf(words(text)).join(' ');
}

function termsOf(list: readonly Word[]): string[] {
  return list.map((word, i) => {
    const next = list[i + 1];
    return word.letter && next?.letter && next.start === word.end ? word.text + next.text : word.text;
  });
}

/** Words of a query that must stand next to each other: mostly one, more for a "quoted phrase" or a text without spaces. */
export interface QueryGroup {
  readonly words: readonly Word[];
  /** The last word may be the beginning of a longer one. */
  readonly prefix: boolean;
  /** For FTS5's MATCH; safe whatever the query was. */
  readonly match: string;
}

/** The groups of a query, all of which must be found. None when it holds no letter, digit or emoji. */
export function parseQuery(query: string): QueryGroup[] {
  const groups: Word[][] = [];
  for (const [, phrase, loose] of query.matchAll(/"([^"]*)"|([^"]+)/g)) {
    if (phrase !== undefined) groups.push(words(phrase));
    else groups.push(...chains(words(loose ?? '')));
  }
  const phraseLast = /"[^"]*"\s*$/.test(query);
  const found = groups.filter((group) => group.length > 0);
  const parsed = found.map((group, i) => toGroup(group, i === found.length - 1 && !phraseLast));
  return [...new Map(parsed.map((group) => [group.match, group])).values()].slice(0, MAX_GROUPS);
}

/** Splits words wherever something stands between them. */
function chains(list: readonly Word[]): Word[][] {
  const result: Word[][] = [];
  for (const word of list) {
    const chain = result.at(-1);
    if (chain?.at(-1)?.end === word.start) chain.push(word);
    else result.push([word]);
  }
  return result;
}

function toGroup(group: readonly Word[], last: boolean): QueryGroup {
  const terms = termsOf(group);
  const end = group.at(-1);
  const before = group.at(-2);
  // The pair before already says that the last letter follows.
  if (end?.letter && before?.letter && before.end === end.start) terms.pop();
  const single = end?.letter === true && terms.length === group.length;
  const prefix = single || (last && end?.letter === false && end.text.length >= MIN_PREFIX);
  return { words: group, prefix, match: `"${terms.join(' ').replaceAll('"', '""')}"${prefix ? ' *' : ''}` };
}
