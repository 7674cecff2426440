import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

export interface IntegrityRequest {
  readonly file: string;
  /** Every page is read, which takes long; otherwise only the list of sessions. */
  readonly everyPage: boolean;
}

/** What a look into the index gave. */
export type Integrity =
  | { readonly problems: readonly string[]; readonly ids: readonly string[] }
  /** It cannot be read at all. */
  | { readonly error: string };

/** A lock is waited for at most this long, ms. */
const BUSY_MS = 3000;
const MAX_PROBLEMS = 3;

/** Reads the whole index, in a thread of its own: that takes seconds for a large one, and SQLite waits inside the process. */
function examine({ file, everyPage }: IntegrityRequest): Integrity {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    const problems = everyPage ? quickCheck(db) : [];
    const ids = problems.length > 0 ? [] : (db.prepare('SELECT id FROM sessions').pluck().all() as string[]);
    return { problems, ids };
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    db?.close();
  }
}

function quickCheck(db: Database.Database): string[] {
  const rows = db.pragma(`quick_check(${MAX_PROBLEMS})`) as { quick_check: string }[];
  return rows.flatMap(({ quick_check }) => (quick_check === 'ok' ? [] : quick_check.split('\n').slice(0, MAX_PROBLEMS)));
}

parentPort?.postMessage(examine(workerData as IntegrityRequest));
