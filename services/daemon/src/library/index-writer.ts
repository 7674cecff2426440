import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Session } from '../sessions/types.js';
import { type EntryTable, entryRange, type IndexSchema } from './schema.js';
import { compareEntries, sessionEntries } from './session-entries.js';
import { indexTerms } from './terms.js';

/** Entries written in one transaction: SQLite works inside the process, and capture must get its turn in between. */
const BATCH = 200;

/**
 * Makes the index of one session equal to what the session holds, writing only what differs. Cut at any point, the next call
 * makes up for it.
 * @param fingerprint of the session's files, taken before they are read
 * @returns whether any text was taken out of the index
 */
export async function writeSession(db: Kysely<IndexSchema>, session: Session, fingerprint: string): Promise<boolean> {
  const wanted = await sessionEntries(session);
  const no = await sessionNumber(db, session.id);
  const [from, to] = entryRange(no);
  const present = await db.selectFrom('entries').selectAll().where('id', '>=', from).where('id', '<=', to).execute();
  const { removed, added } = compareEntries(no, present, wanted);
  for (const batch of batches(removed)) await inTransaction(db, (connection) => remove(connection, batch));
  for (const batch of batches(added)) await inTransaction(db, (connection) => add(connection, batch));
  await db.updateTable('sessions').set({ fingerprint }).where('no', '=', no).execute();
  return removed.length > 0;
}

/** Takes a session out of the index. @returns whether it was in it */
export async function eraseSession(db: Kysely<IndexSchema>, id: string): Promise<boolean> {
  const row = await db.selectFrom('sessions').select('no').where('id', '=', id).executeTakeFirst();
  if (!row) return false;
  const [from, to] = entryRange(row.no);
  await inTransaction(db, async (connection) => {
    await connection.deleteFrom('entry_index').where('rowid', '>=', from).where('rowid', '<=', to).execute();
    await connection.deleteFrom('entries').where('id', '>=', from).where('id', '<=', to).execute();
    await connection.deleteFrom('sessions').where('no', '=', row.no).execute();
  });
  return true;
}

/** The number of a session; a new one is marked as not indexed yet. */
async function sessionNumber(db: Kysely<IndexSchema>, id: string): Promise<number> {
  const known = await db.selectFrom('sessions').select('no').where('id', '=', id).executeTakeFirst();
  if (known) return known.no;
  const made = await db.insertInto('sessions').values({ id, fingerprint: '' }).returning('no').executeTakeFirstOrThrow();
  return made.no;
}

async function remove(db: Kysely<IndexSchema>, ids: readonly number[]): Promise<void> {
  await db.deleteFrom('entry_index').where('rowid', 'in', ids).execute();
  await db.deleteFrom('entries').where('id', 'in', ids).execute();
}

async function add(db: Kysely<IndexSchema>, entries: readonly EntryTable[]): Promise<void> {
  await db.insertInto('entries').values(entries).execute();
  await db
    .insertInto('entry_index')
    .values(entries.map(({ id, text }) => ({ rowid: id, terms: indexTerms(text) })))
    .execute();
}

/** Not Kysely's own: its rollback fails after an error that SQLite has rolled back by itself, and hides that the disk is full. */
async function inTransaction(db: Kysely<IndexSchema>, work: (connection: Kysely<IndexSchema>) => Promise<void>): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`BEGIN IMMEDIATE`.execute(connection);
    try {
      await work(connection);
      await sql`COMMIT`.execute(connection);
    } catch (error) {
      await sql`ROLLBACK`.execute(connection).catch(() => {});
      throw error;
    }
  });
  await nextTurn();
}

function* batches<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += BATCH) yield list.slice(i, i + BATCH);
}
