import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
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
  for (const batch of batches(removed)) await inTransaction(db, (trx) => remove(trx, batch));
  for (const batch of batches(added)) await inTransaction(db, (trx) => add(trx, batch));
  await db.updateTable('sessions').set({ fingerprint }).where('no', '=', no).execute();
  return removed.length > 0;
}

/** Takes a session out of the index. @returns whether it was in it */
export async function eraseSession(db: Kysely<IndexSchema>, id: string): Promise<boolean> {
  const row = await db.selectFrom('sessions').select('no').where('id', '=', id).executeTakeFirst();
  if (!row) return false;
  const [from, to] = entryRange(row.no);
  await inTransaction(db, async (trx) => {
    await trx.deleteFrom('entry_index').where('rowid', '>=', from).where('rowid', '<=', to).execute();
    await trx.deleteFrom('entries').where('id', '>=', from).where('id', '<=', to).execute();
    await trx.deleteFrom('sessions').where('no', '=', row.no).execute();
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

async function remove(trx: Transaction<IndexSchema>, ids: readonly number[]): Promise<void> {
  await trx.deleteFrom('entry_index').where('rowid', 'in', ids).execute();
  await trx.deleteFrom('entries').where('id', 'in', ids).execute();
}

async function add(trx: Transaction<IndexSchema>, entries: readonly EntryTable[]): Promise<void> {
  await trx.insertInto('entries').values(entries).execute();
  await trx
    .insertInto('entry_index')
    .values(entries.map(({ id, text }) => ({ rowid: id, terms: indexTerms(text) })))
    .execute();
}

async function inTransaction(db: Kysely<IndexSchema>, work: (trx: Transaction<IndexSchema>) => Promise<void>): Promise<void> {
  await db.transaction().execute(work);
  await nextTurn();
}

function* batches<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += BATCH) yield list.slice(i, i + BATCH);
}
