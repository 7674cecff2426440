import type { SearchMatch, SearchQuery } from '@ambient/contract';
import { type Kysely, sql } from 'kysely';
import { type EntryTable, type IndexSchema, sessionOf } from './schema.js';
import { speakerKey } from './session-entries.js';
import { snippet } from './snippet.js';
import { parseQuery, type QueryGroup } from './terms.js';

/** Matches shown of one session. */
const MAX_MATCHES = 5;

type Filter = Pick<SearchQuery, 'track' | 'speaker'>;
/** Matches by session number: ids of entries, a session's own fields first, then its lines by number. */
type Found = ReadonlyMap<number, readonly number[]>;
/** Of each session's matches the ones to show, and how many there are. */
type Chosen = ReadonlyMap<number, { readonly shown: readonly number[]; readonly count: number }>;

/** What a query finds. */
export class Hits {
  readonly #db: Kysely<IndexSchema>;
  readonly #groups: readonly QueryGroup[];
  readonly #chosen: Chosen;
  /** Numbers of the sessions by id. */
  readonly #numbers: ReadonlyMap<string, number>;

  constructor(db: Kysely<IndexSchema>, groups: readonly QueryGroup[], chosen: Chosen, numbers: ReadonlyMap<string, number>) {
    this.#db = db;
    this.#groups = groups;
    this.#chosen = chosen;
    this.#numbers = numbers;
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** How many matches a session has. */
  count(id: string): number {
    return this.#chosen.get(this.#numbers.get(id) ?? 0)?.count ?? 0;
  }

  /** At most five matches of each of the sessions. */
  async matches(ids: readonly string[]): Promise<Map<string, SearchMatch[]>> {
    const wanted = ids.map((id) => [id, this.#chosen.get(this.#numbers.get(id) ?? 0)?.shown ?? []] as const);
    const entries = await this.#db
      .selectFrom('entries')
      .selectAll()
      .where('id', 'in', wanted.flatMap(([, list]) => list)) // biome-ignore format: one condition
      .execute();
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    return new Map(wanted.map(([id, list]) => [id, list.flatMap((entry) => this.#match(byId.get(entry)) ?? [])]));
  }

  #match(entry: EntryTable | undefined): SearchMatch | undefined {
    if (!entry) return undefined;
    const { segment, start_ms, track, speaker, field, text } = entry;
    return { segment, start_ms, track, speaker, snippet: snippet(text, this.#groups), field };
  }
}

/**
 * Sessions with all words of the query in one line or field; when there is none, sessions that have each word somewhere.
 * Any query is safe. With a track or speaker only lines count.
 */
export async function findSessions(db: Kysely<IndexSchema>, query: SearchQuery): Promise<Hits> {
  const groups = parseQuery(query.q);
  const expressions = groups.map((group) => group.match);
  let chosen: Chosen = groups.length === 0 ? new Map() : firstOf(await allMatches(db, expressions.join(' AND '), query));
  if (chosen.size === 0 && groups.length > 1) chosen = spread(await each(expressions, (expression) => allMatches(db, expression, query)));
  if (chosen.size === 0) return new Hits(db, groups, chosen, new Map());
  const numbers = JSON.stringify([...chosen.keys()]);
  const rows = await db
    .selectFrom('sessions')
    .select(['no', 'id'])
    .where('no', 'in', sql<number>`(SELECT value FROM json_each(${numbers}))`)
    .execute();
  return new Hits(db, groups, chosen, new Map(rows.map(({ no, id }) => [id, no])));
}

/** One pass over the matches gives both the sessions and what to show of each; as one JSON text, which costs a tenth of rows. */
async function allMatches(db: Kysely<IndexSchema>, expression: string, filter: Filter): Promise<Found> {
  const { rows } = await sql<{ ids: string }>`
    SELECT json_group_array(rowid) AS ids FROM (
      SELECT rowid FROM entry_index WHERE ${matching(expression, filter)} ORDER BY rowid
    )`.execute(db);
  const found = new Map<number, number[]>();
  for (const id of JSON.parse(rows[0]?.ids ?? '[]') as number[]) {
    const no = sessionOf(id);
    const list = found.get(no);
    if (list) list.push(id);
    else found.set(no, [id]);
  }
  return found;
}

function matching(expression: string, { track, speaker }: Filter) {
  const lines = [
    ...(track === undefined ? [] : [sql`track = ${track}`]),
    ...(speaker === undefined ? [] : [sql`speaker_key = ${speakerKey(speaker)}`]),
  ];
  const match = sql`entry_index MATCH ${expression}`;
  if (lines.length === 0) return match;
  return sql`${match} AND EXISTS (SELECT 1 FROM entries WHERE id = entry_index.rowid AND field = 'text' AND ${sql.join(lines, sql` AND `)})`;
}

function firstOf(found: Found): Chosen {
  return new Map([...found].map(([no, list]) => [no, { shown: list.slice(0, MAX_MATCHES), count: list.length }]));
}

/** Sessions that are in every list. Their matches take turns, so that a rare word is shown beside a frequent one. */
function spread(lists: readonly Found[]): Chosen {
  const [first, ...others] = lists;
  const common = [...(first?.keys() ?? [])].filter((no) => others.every((list) => list.has(no)));
  return new Map(
    common.map((no) => {
      const turns = Array.from({ length: MAX_MATCHES }, (_, i) => lists.flatMap((list) => list.get(no)?.[i] ?? []));
      const shown = [...new Set(turns.flat())].slice(0, MAX_MATCHES).toSorted((a, b) => a - b);
      return [no, { shown, count: new Set(lists.flatMap((list) => list.get(no) ?? [])).size }];
    }),
  );
}

async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
