import type { SearchMatch, SearchQuery } from '@ambient/contract';
import { type Kysely, sql } from 'kysely';
import { type EntryTable, entryRange, type IndexSchema, SESSION_OF_ROWID } from './schema.js';
import { speakerKey } from './session-entries.js';
import { snippet } from './snippet.js';
import { parseQuery, type QueryGroup } from './terms.js';

/** Matches shown of one session. */
const MAX_MATCHES = 5;

type Filter = Pick<SearchQuery, 'track' | 'speaker'>;

/** Sessions that a query finds, with a way to get at their matches. */
export interface Hits {
  /** Numbers of the sessions by id. */
  readonly sessions: ReadonlyMap<string, number>;
  /** At most five matches of one of them, its own fields first, then lines by number. */
  matches(no: number): Promise<SearchMatch[]>;
}

/**
 * Sessions with all words of the query in one line or field; when there is none, sessions that have each word somewhere.
 * Any query is safe. With a track or speaker only lines count.
 */
export async function findSessions(db: Kysely<IndexSchema>, query: SearchQuery): Promise<Hits> {
  const groups = parseQuery(query.q);
  if (groups.length === 0) return { sessions: new Map(), matches: async () => [] };
  const together = groups.map((group) => group.match).join(' AND ');
  const inOneLine = await sessionsMatching(db, [together], query);
  if (inOneLine.size > 0 || groups.length === 1) {
    return { sessions: inOneLine, matches: (no) => matchesOf(db, no, [together], groups, query) };
  }
  const each = groups.map((group) => group.match);
  return { sessions: await sessionsMatching(db, each, query), matches: (no) => matchesOf(db, no, each, groups, query) };
}

/** Sessions that have a match of every expression. */
async function sessionsMatching(db: Kysely<IndexSchema>, expressions: readonly string[], filter: Filter): Promise<Map<string, number>> {
  let found = db.selectFrom('sessions').select(['no', 'id']);
  for (const expression of expressions) {
    found = found.where(
      'no',
      'in',
      sql<number>`(SELECT DISTINCT ${sql.raw(SESSION_OF_ROWID)} FROM entry_index WHERE ${matching(expression, filter)})`,
    );
  }
  return new Map((await found.execute()).map(({ no, id }) => [id, no]));
}

function matching(expression: string, { track, speaker }: Filter) {
  const wanted = [sql`entry_index MATCH ${expression}`];
  const lines = [
    ...(track === undefined ? [] : [sql`track = ${track}`]),
    ...(speaker === undefined ? [] : [sql`speaker_key = ${speakerKey(speaker)}`]),
  ];
  if (lines.length > 0) {
    wanted.push(sql`EXISTS (SELECT 1 FROM entries WHERE id = entry_index.rowid AND field = 'text' AND ${sql.join(lines, sql` AND `)})`);
  }
  return sql.join(wanted, sql` AND `);
}

async function matchesOf(
  db: Kysely<IndexSchema>,
  no: number,
  expressions: readonly string[],
  groups: readonly QueryGroup[],
  filter: Filter,
): Promise<SearchMatch[]> {
  const [from, to] = entryRange(no);
  const found = new Map<number, EntryTable>();
  const lists = await Promise.all(
    expressions.map(async (expression) => {
      const rows = await sql<EntryTable>`
        SELECT * FROM entries WHERE id IN (
          SELECT rowid FROM entry_index WHERE ${matching(expression, filter)} AND rowid BETWEEN ${from} AND ${to} ORDER BY rowid LIMIT ${MAX_MATCHES}
        )`.execute(db);
      return rows.rows;
    }),
  );
  // Words that are spread over lines take turns, so that the rare one is shown beside the frequent one.
  for (let i = 0; i < MAX_MATCHES; i++) {
    for (const list of lists) {
      const row = list[i];
      if (row && found.size < MAX_MATCHES) found.set(row.id, row);
    }
  }
  return [...found.values()]
    .toSorted((a, b) => a.id - b.id)
    .map(({ segment, start_ms, track, speaker, field, text }) => ({
      segment,
      start_ms,
      track,
      speaker,
      snippet: snippet(text, groups),
      field,
    }));
}
