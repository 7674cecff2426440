import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import Database from 'better-sqlite3';
import writeFileAtomic from 'write-file-atomic';

/**
 * Holds a home for one daemon. The lock is SQLite's exclusive file lock: the kernel drops it with the process, however
 * that ends, so it is never stale (docs/adr/0003). `daemon.json` beside it only names the holder.
 */
export class HomeLock {
  readonly #dir: string;
  #db: Database.Database | undefined;

  constructor(home: string) {
    this.#dir = home;
  }

  /** @throws AmbientError `already_running` that names the pid of the holder */
  async acquire(): Promise<void> {
    const db = new Database(path.join(this.#dir, 'daemon.lock'), { timeout: 250 });
    try {
      db.pragma('journal_mode = DELETE');
      db.pragma('locking_mode = EXCLUSIVE');
      db.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER); DELETE FROM holder; COMMIT');
    } catch (cause) {
      db.close();
      if (!isBusy(cause)) throw cause;
      const pid = await this.#holder();
      throw new AmbientError(
        'already_running',
        `Another daemon holds ${this.#dir}${pid === undefined ? '' : ` (pid ${pid})`}.`,
        'Use it as it is, or end it with `ambientctl daemon stop`.',
        { cause },
      );
    }
    this.#db = db;
    await writeFileAtomic(path.join(this.#dir, 'daemon.json'), `${JSON.stringify({ pid: process.pid })}\n`, { mode: 0o600 });
  }

  release(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  async #holder(): Promise<number | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(path.join(this.#dir, 'daemon.json'), 'utf8'));
      const pid = typeof value === 'object' && value !== null && 'pid' in value ? value.pid : undefined;
      return typeof pid === 'number' ? pid : undefined;
    } catch {
      return undefined;
    }
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}
