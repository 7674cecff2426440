import { open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, Migrator, SqliteDialect } from 'kysely';
import type { Logger } from '../platform/logger.js';
import { INDEX_VERSION, migrations } from './migrations.js';
import type { IndexSchema } from './schema.js';

/** SQLite waits inside the process, where capture runs too: a file that another program keeps locked is retried later instead. */
const BUSY_TIMEOUT_MS = 250;

/** The index's SQLite file. */
export class IndexDatabase {
  readonly db: Kysely<IndexSchema>;
  readonly #sqlite: SqliteDatabase.Database;

  private constructor(sqlite: SqliteDatabase.Database) {
    this.#sqlite = sqlite;
    this.db = new Kysely<IndexSchema>({ dialect: new SqliteDialect({ database: sqlite }) });
  }

  /**
   * Opens or makes the file and brings it to this build's version. One that is damaged is moved aside and made anew, empty;
   * one that a newer build made is made anew too: all that is in it comes from the sessions.
   */
  static async open(file: string, now: () => Date, logger: Logger): Promise<IndexDatabase> {
    try {
      return await IndexDatabase.#open(file);
    } catch (error) {
      if (error instanceof NewerIndex) {
        logger.warn({ version: error.version, known: INDEX_VERSION }, 'a newer version made the index; it is made anew from the sessions');
        await removeDatabase(file);
      } else if (isCorrupt(error)) await setAside(file, now(), logger, error);
      else throw error;
      return IndexDatabase.#open(file);
    }
  }

  static async #open(file: string): Promise<IndexDatabase> {
    // Made here, because SQLite would make it readable for everyone.
    await (await open(file, 'a', 0o600)).close();
    const sqlite = new SqliteDatabase(file, { timeout: BUSY_TIMEOUT_MS });
    const index = new IndexDatabase(sqlite);
    try {
      const version = Number(sqlite.pragma('user_version', { simple: true }));
      if (version > INDEX_VERSION) throw new NewerIndex(version);
      sqlite.pragma('journal_mode = WAL');
      sqlite.pragma('synchronous = NORMAL');
      sqlite.pragma('secure_delete = ON');
      if (version < INDEX_VERSION) await index.#migrate();
      return index;
    } catch (error) {
      await index.close();
      throw error;
    }
  }

  async #migrate(): Promise<void> {
    const { error } = await new Migrator({ db: this.db, provider: migrations }).migrateToLatest();
    if (error !== undefined) throw error;
    this.#sqlite.pragma(`user_version = ${INDEX_VERSION}`);
  }

  /** Takes what was deleted out of the write-ahead log too. */
  purge(): void {
    this.#sqlite.pragma('wal_checkpoint(TRUNCATE)');
  }

  async close(): Promise<void> {
    await this.db.destroy();
    if (this.#sqlite.open) this.#sqlite.close();
  }
}

/** True when SQLite says that the file is damaged or no database. */
export function isCorrupt(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCode(error));
}

/** True when another program holds a lock on the file, or there is no space for more. */
export function isUnwritable(error: unknown): boolean {
  return isDiskFull(error) || /^SQLITE_(?:BUSY|LOCKED)/.test(sqliteCode(error));
}

export function isDiskFull(error: unknown): boolean {
  return sqliteCode(error) === 'SQLITE_FULL';
}

function sqliteCode(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

/** Moves a damaged file out of the way, so that it can be looked at. */
export async function setAside(file: string, now: Date, logger: Logger, error: unknown): Promise<void> {
  const aside = `${file}.corrupt-${now.toISOString().replace(/[:.]/g, '')}`;
  await rename(file, aside);
  await removeCompanions(file);
  logger.error({ err: error, file: aside }, 'the index was damaged; it is moved aside and made anew from the sessions');
}

/** The write-ahead log and its map belong to one file only; SQLite would take them for another's. */
export async function removeCompanions(file: string): Promise<void> {
  await rm(`${file}-wal`, { force: true });
  await rm(`${file}-shm`, { force: true });
}

export async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true });
  await removeCompanions(file);
}

/** Deletes what was set aside of `file`: it may hold words that were struck or deleted since. */
export async function removeAside(file: string): Promise<void> {
  const beginning = `${path.basename(file)}.corrupt-`;
  for (const name of await readdir(path.dirname(file))) if (name.startsWith(beginning)) await rm(path.join(path.dirname(file), name));
}

class NewerIndex extends Error {
  readonly version: number;

  constructor(version: number) {
    super(`the index is of version ${version}`);
    this.version = version;
  }
}
