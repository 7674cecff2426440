import { AmbientError } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import { fingerprint } from '../sessions/file-stat.js';
import type { SessionStore } from '../sessions/types.js';
import { type IndexHandle, LibraryUnwritable } from './index-handle.js';
import type { Library } from './types.js';

/** A search waits this long for what is not indexed yet; the rest is counted as unavailable. */
const SEARCH_WAIT_MS = 2000;
/** A folder that is being copied in goes on changing after it appeared: it is looked at again for this long. */
const YOUNG_MS = 10_000;

export interface IndexSyncDeps {
  readonly store: SessionStore;
  readonly handle: IndexHandle;
  readonly library: Pick<Library, 'index' | 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps the index in step with the session folders: by what the daemon tells, and by looking at what others changed. */
export class IndexSync {
  readonly #deps: IndexSyncDeps;
  /** Sessions that are known to differ from the index. */
  readonly #due = new Set<string>();
  /** Sessions that others put there lately, with the time they last changed. */
  readonly #young = new Map<string, number>();
  /** Sessions that cannot be read, with what their files looked like then. */
  readonly #unreadable = new Map<string, string>();
  #scan: 'none' | 'names' | 'all' = 'none';
  /** Folders that are no sessions, when they were last looked at. */
  #strays: ReadonlySet<string> = new Set();
  #folderPrint = '';
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(deps: IndexSyncDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stopping = false;
    this.restart();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  /** Looks at every session from the beginning, in the background. */
  restart(): void {
    this.#scan = 'all';
    void this.#run();
  }

  /** The session has changed: it is indexed before the next search. */
  touch(id: string): void {
    this.#due.add(id);
  }

  /** The session is being indexed or removed right now. */
  settle(id: string): void {
    this.#due.delete(id);
  }

  isDue(id: string): boolean {
    return this.#due.has(id);
  }

  /** Looks at every session and waits until the index holds what they hold now. */
  async all(): Promise<void> {
    this.#scan = 'all';
    do await this.#run();
    while (this.#mustLook() && !this.#stopping);
  }

  /** Waits, not for long, until the index holds what a search must see. */
  async forSearch(): Promise<void> {
    const moved = (await fingerprint(this.#deps.store.dir)) !== this.#folderPrint;
    if ((moved || this.#young.size > 0) && this.#scan === 'none') this.#scan = 'names';
    if (this.#scan === 'none' && this.#due.size === 0 && !this.#running) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SEARCH_WAIT_MS);
    });
    await Promise.race([this.#run(), late]);
    clearTimeout(timer);
  }

  #mustLook(): boolean {
    return this.#scan !== 'none';
  }

  #run(): Promise<void> {
    this.#running ??= this.#work()
      .catch((error: unknown) => this.#deps.logger.warn({ err: error }, 'the index is not up to date'))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #work(): Promise<void> {
    while (!this.#stopping && (this.#mustLook() || this.#due.size > 0)) {
      if (this.#mustLook()) await this.#look();
      for (const id of [...this.#due]) {
        if (this.#stopping) return;
        await this.#indexOne(id);
      }
    }
  }

  /** Finds sessions that came, changed or went. With `names`, only those that are new or were lately. */
  async #look(): Promise<void> {
    const { store, handle, library, clock } = this.#deps;
    const all = this.#scan === 'all';
    this.#scan = 'none';
    this.#folderPrint = await fingerprint(store.dir);
    const ids = await store.ids();
    const rows = await handle.write(({ db }) => db.selectFrom('sessions').select(['id', 'fingerprint']).execute());
    const indexed = new Map(rows.map((row) => [row.id, row.fingerprint]));
    const present = new Set(ids);
    const strays = await store.strays();
    // A folder that is being copied in becomes a session a moment later.
    for (const name of strays) if (!this.#strays.has(name)) this.#young.set(name, clock.monotonicMs());
    this.#strays = new Set(strays);
    for (const id of indexed.keys()) if (!present.has(id)) await library.remove(id);
    for (const [id, since] of this.#young) if (clock.monotonicMs() - since >= YOUNG_MS) this.#young.delete(id);
    for (const id of ids) {
      if (this.#due.has(id) || (!all && indexed.has(id) && !this.#young.has(id))) continue;
      const print = await store.fingerprint(id);
      if ((indexed.get(id) ?? this.#unreadable.get(id)) === print) continue;
      this.#young.set(id, clock.monotonicMs());
      this.#due.add(id);
    }
  }

  async #indexOne(id: string): Promise<void> {
    const { store, library } = this.#deps;
    const print = await store.fingerprint(id);
    try {
      await library.index(await store.get(id));
      this.#unreadable.delete(id);
    } catch (error) {
      // A session that cannot be read is shown as broken and counted by every search.
      if (!(error instanceof AmbientError) || error instanceof LibraryUnwritable) {
        this.#due.add(id);
        throw error;
      }
      this.#unreadable.set(id, print);
      await library.remove(id);
    }
  }
}
