import { AmbientError, type SearchQuery, type SearchReply } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { Session, SessionStore } from '../sessions/types.js';
import { IndexHandle } from './index-handle.js';
import { findSessions } from './index-search.js';
import { IndexSync } from './index-sync.js';
import { eraseSession, writeSession } from './index-writer.js';
import { checkQuery, rowFilter } from './query-check.js';
import type { Library } from './types.js';

export interface LibraryDeps {
  readonly dbPath: string;
  readonly store: SessionStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The index in a SQLite file. It follows the bus and the session folders by itself, so a search sees what was written before it;
 * whatever happens to the file, it is made anew from the folders.
 */
export class SqliteLibrary implements Library {
  readonly #deps: LibraryDeps;
  readonly #handle: IndexHandle;
  readonly #sync: IndexSync;

  constructor(deps: LibraryDeps) {
    this.#deps = deps;
    this.#handle = new IndexHandle({ ...deps, onReplaced: () => this.#replaced() });
    this.#sync = new IndexSync({ ...deps, handle: this.#handle, library: this });
  }

  /** Opens the file and begins to bring it up to date; that goes on in the background. */
  async start(): Promise<void> {
    await this.#handle.open();
    this.#sync.start();
    this.#deps.bus.on(this, (event) => {
      if (event.type === 'line' || event.type === 'struck') this.#sync.touch(event.session);
      else if (event.type === 'session') this.#sync.touch(event.session.id);
      if (event.type === 'struck' || event.type === 'removed') void this.#forgetDamaged();
    });
  }

  async stop(): Promise<void> {
    this.#deps.bus.off(this);
    await this.#sync.stop();
    await this.#handle.close();
  }

  async index(session: Session): Promise<void> {
    this.#sync.settle(session.id);
    try {
      await this.#handle.write(async (index) => {
        const print = await this.#deps.store.fingerprint(session.id);
        if (await writeSession(index.db, session, print)) index.purge();
      });
    } catch (error) {
      this.#sync.touch(session.id);
      throw error;
    }
  }

  async remove(id: string): Promise<void> {
    this.#sync.settle(id);
    await this.#handle.write(async (index) => {
      if (await eraseSession(index.db, id)) index.purge();
    });
  }

  /** Compares every session folder with the index and writes what differs, session by session; searches go on meanwhile. */
  async sync(): Promise<void> {
    await this.#sync.all();
  }

  async search(query: SearchQuery, allow: (id: string) => boolean = () => true): Promise<SearchReply> {
    checkQuery(query);
    const accepts = rowFilter(query);
    await this.#sync.forSearch();
    const rows = (await this.#deps.store.list()).filter((row) => allow(row.id));
    return this.#handle.read(
      async ({ db }) => {
        const hits = await findSessions(db, query);
        const found = rows.filter((row) => hits.has(row.id) && row.state !== 'broken' && accepts(row));
        const page = found.slice(query.offset, query.offset + query.limit);
        const matches = await hits.matches(page.map((row) => row.id));
        return {
          sessions: page.map((row) => ({ ...row, matches: matches.get(row.id) ?? [], match_count: hits.count(row.id) })),
          total: found.length,
          has_more: query.offset + page.length < found.length,
          unavailable: rows.filter((row) => row.state === 'broken' || this.#sync.isDue(row.id)).length,
        };
      },
      () => this.#sync.forSearch(),
    );
  }

  /** Makes the index anew beside the old one, which answers searches until the new one takes its place. */
  async rebuild(): Promise<{ sessions: number; lines: number; skipped: { id: string; error: string }[] }> {
    const { store } = this.#deps;
    const result = await this.#handle.replace(async ({ db }) => {
      const made = { sessions: 0, lines: 0, skipped: [] as { id: string; error: string }[] };
      for (const id of await store.ids()) {
        try {
          const print = await store.fingerprint(id);
          const session = await store.get(id);
          await writeSession(db, session, print);
          made.sessions += 1;
          made.lines += await session.lineCount();
        } catch (error) {
          if (!(error instanceof AmbientError)) throw error;
          made.skipped.push({ id, error: error.message });
        }
      }
      return made;
    });
    // What changed meanwhile went into the old one.
    await this.sync();
    return result;
  }

  /** A damaged index that was kept to be looked at must not outlive the words that are gone from the sessions. */
  async #forgetDamaged(): Promise<void> {
    await this.#handle
      .removeAside()
      .catch((error: unknown) => this.#deps.logger.error({ err: error }, 'a damaged index that was set aside cannot be deleted'));
  }

  #replaced(): void {
    this.#sync.restart();
    const at = isoWithOffset(this.#deps.clock.now());
    const message = 'The library was damaged. It is made anew from the sessions; until then a search may miss some.';
    const hint = 'Nothing is lost; the damaged file is kept beside library.db.';
    this.#deps.bus.emit({ type: 'warning', session: null, warning: { code: 'library_damaged', message, hint, at } });
  }
}
