import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AmbientError, type Check, check, type HomePaths, SearchQuery } from '@ambient/contract';
import type { Library } from '../library/types.js';
import type { SessionStore } from '../sessions/types.js';
import type { Integrity, IntegrityRequest } from './integrity-worker.js';

interface LibraryDeps {
  readonly paths: HomePaths;
  readonly store: SessionStore;
  readonly library: Library;
}

const ID = 'library';
const TITLE = 'Library';
const REBUILD = 'Run `ambientctl library rebuild`; nothing is lost, it is made from the sessions.';
/** Always the compiled one, from a test run on sources too. */
const WORKER = fileURLToPath(new URL('../../dist/doctor/integrity-worker.js', import.meta.url));

/** The index: intact, and of the sessions that there are. */
export async function libraryChecks(deps: LibraryDeps): Promise<Check[]> {
  return [await indexCheck(deps), ...(await copies(deps.paths))];
}

async function indexCheck({ paths, store, library }: LibraryDeps): Promise<Check> {
  // As a file first: the daemon's own connection may hold what the disk has lost.
  const before = await examine({ file: paths.library, everyPage: true });
  if ('error' in before) return check.failure(ID, TITLE, `${paths.library} cannot be read: ${before.error}.`, REBUILD);
  if (before.problems.length > 0) return check.failure(ID, TITLE, `${paths.library} is damaged: ${before.problems.join('; ')}.`, REBUILD);
  try {
    // A search first brings the index up to date with what others changed.
    await library.search(SearchQuery.parse({ q: 'ambient' }));
  } catch (error) {
    if (!(error instanceof AmbientError)) throw error;
    return check.failure(ID, TITLE, error.message, error.hint ?? REBUILD);
  }
  const after = await examine({ file: paths.library, everyPage: false });
  if ('error' in after) return check.failure(ID, TITLE, `${paths.library} cannot be read: ${after.error}.`, REBUILD);
  const indexed = new Set(after.ids);
  const rows = (await store.list()).filter(({ state }) => state !== 'broken');
  const missing = rows.filter(({ id }) => !indexed.has(id));
  if (missing.length > 0)
    return check.warning(
      ID,
      TITLE,
      `${missing.length} of ${rows.length} sessions cannot be found by search: ${shortly(missing.map(({ id }) => id))}.`,
      REBUILD,
    );
  return check.ok(ID, TITLE, `Intact; ${indexed.size} of ${rows.length} sessions can be searched.`);
}

/** Damaged files that were set aside. */
async function copies(paths: HomePaths): Promise<Check[]> {
  const found = async (dir: string, pattern: RegExp): Promise<string[]> =>
    (await readdir(dir).catch(() => [])).filter((name) => pattern.test(name)).map((name) => path.join(dir, name));
  const indexes = await found(paths.home, /^library\.db\.corrupt-/);
  const clients = await found(paths.mcp, /^clients\.json\.broken-/);
  return [
    ...(indexes.length === 0
      ? []
      : [
          check.warning(
            'library.copies',
            'Damaged libraries',
            `The library was damaged and made anew; ${indexes.length === 1 ? 'the damaged file is' : `${indexes.length} damaged files are`} kept: ${shortly(indexes)}.`,
            `Check the disk if this happens again, and delete what you do not need: rm '${path.join(paths.home, 'library.db.corrupt-')}'*`,
          ),
        ]),
    ...(clients.length === 0
      ? []
      : [
          check.warning(
            'mcp.copies',
            'Damaged list of MCP clients',
            `The list of MCP clients could not be read and was set aside: ${shortly(clients)}. Hosts connected before have no access.`,
            'Connect them again with `ambientctl mcp connect HOST`, then delete that file.',
          ),
        ]),
  ];
}

function examine(request: IntegrityRequest): Promise<Integrity> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData: request });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the look into the library ended without an answer')));
  });
}

/** A list that stays short. */
function shortly(words: readonly string[]): string {
  return words.length <= 3 ? words.join(', ') : `${words.slice(0, 3).join(', ')} and ${words.length - 3} more`;
}
