import { type Kysely, type Migration, type MigrationProvider, sql } from 'kysely';
import type { IndexSchema } from './schema.js';

const first: Migration = {
  async up(db: Kysely<IndexSchema>) {
    await db.schema
      .createTable('sessions')
      .addColumn('no', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('entries')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('field', 'text', (column) => column.notNull())
      .addColumn('segment', 'integer', (column) => column.notNull())
      .addColumn('track', 'text')
      .addColumn('speaker', 'text')
      .addColumn('speaker_key', 'text')
      .addColumn('start_ms', 'real')
      .addColumn('text', 'text', (column) => column.notNull())
      .execute();
    // Words are folded and cut up by indexTerms; this tokenizer only splits them at the spaces between.
    await sql`CREATE VIRTUAL TABLE entry_index USING fts5(terms, tokenize = 'ascii')`.execute(db);
    // Struck words must not stay in the index until some later merge.
    await sql`INSERT INTO entry_index(entry_index, rank) VALUES ('secure-delete', 1)`.execute(db);
  },
};

const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001_entries': first };

/** Version of the index that this build makes; kept in `user_version`. */
export const INDEX_VERSION = Object.keys(MIGRATIONS).length;

export const migrations: MigrationProvider = { getMigrations: async () => MIGRATIONS };
