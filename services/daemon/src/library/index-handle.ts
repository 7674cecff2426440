import { rename } from 'node:fs/promises';
import { AmbientError } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import { Mutex } from '../sessions/mutex.js';
import {
  IndexDatabase,
  isCorrupt,
  isDiskFull,
  isUnwritable,
  removeAside,
  removeCompanions,
  removeDatabase,
  setAside,
} from './index-database.js';

export interface IndexHandleDeps {
  readonly dbPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a damaged file was moved aside and an empty one stands in its place. */
  readonly onReplaced: () => void;
}

/** The open index file: one writer at a time beside any number of readers, none of which sees it closed under its hands. */
export class IndexHandle {
  readonly #deps: IndexHandleDeps;
  readonly #mutex = new Mutex();
  readonly #readers = new Set<Promise<unknown>>();
  #index: IndexDatabase | undefined;

  constructor(deps: IndexHandleDeps) {
    this.#deps = deps;
  }

  async open(): Promise<void> {
    await removeDatabase(this.#temporary);
    this.#index = await this.#openFile(this.#deps.dbPath);
  }

  close(): Promise<void> {
    return this.#mutex.run(() => this.#release());
  }

  /** Runs `work` when no other write runs. A damaged file is replaced by an empty one and `work` is run again on that. */
  write<T>(work: (index: IndexDatabase) => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      const index = this.#current();
      try {
        return await work(index);
      } catch (error) {
        await this.#replaceDamaged(error);
        return await work(this.#current());
      }
    });
  }

  /**
   * Runs `work` at once, beside writes. On a damaged file it is run again on the empty one that replaced it, after `refilled`.
   * @throws AmbientError `unavailable` when the library is closed or locked
   */
  async read<T>(work: (index: IndexDatabase) => Promise<T>, refilled: () => Promise<void>): Promise<T> {
    // No index while the mutex is held means that another file takes its place.
    if (!this.#index) await this.#mutex.run(async () => {});
    const index = this.#current();
    try {
      return await this.#reading(work(index));
    } catch (error) {
      await this.#mutex.run(async () => {
        if (this.#index === index) await this.#replaceDamaged(error);
      });
    }
    await refilled();
    return this.#reading(work(this.#current()));
  }

  /** Fills a new file by `fill` beside the present one, then lets it take its place. */
  async replace<T>(fill: (index: IndexDatabase) => Promise<T>): Promise<T> {
    await removeDatabase(this.#temporary);
    const fresh = await this.#openFile(this.#temporary);
    const result = await fill(fresh).finally(() => fresh.close());
    await this.#mutex.run(async () => {
      await this.#release();
      await removeCompanions(this.#deps.dbPath);
      await rename(this.#temporary, this.#deps.dbPath);
      this.#index = await this.#openFile(this.#deps.dbPath);
    });
    return result;
  }

  /** Deletes damaged files that were set aside. */
  removeAside(): Promise<void> {
    return this.#mutex.run(() => removeAside(this.#deps.dbPath));
  }

  get #temporary(): string {
    return `${this.#deps.dbPath}.rebuild`;
  }

  #openFile(file: string): Promise<IndexDatabase> {
    const { clock, logger } = this.#deps;
    return IndexDatabase.open(file, () => clock.now(), logger);
  }

  #current(): IndexDatabase {
    if (this.#index) return this.#index;
    throw new AmbientError('unavailable', 'the library is closed', 'Start the daemon with `ambientctl daemon start`.');
  }

  async #reading<T>(work: Promise<T>): Promise<T> {
    this.#readers.add(work);
    try {
      return await work;
    } finally {
      this.#readers.delete(work);
    }
  }

  async #release(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    await Promise.allSettled(this.#readers);
    await index?.close();
  }

  /** Rethrows everything but damage. */
  async #replaceDamaged(error: unknown): Promise<void> {
    if (!isCorrupt(error)) throw isUnwritable(error) ? new LibraryUnwritable(error) : error;
    await this.#release().catch(() => {});
    await setAside(this.#deps.dbPath, this.#deps.clock.now(), this.#deps.logger, error);
    this.#index = await this.#openFile(this.#deps.dbPath);
    this.#deps.onReplaced();
  }
}

/** The index cannot be written now; it can later. */
export class LibraryUnwritable extends AmbientError {
  constructor(cause: unknown) {
    if (isDiskFull(cause)) super('disk_full', 'the disk is full', 'Free some space; the library catches up by itself.', { cause });
    else super('unavailable', 'another program keeps the library locked', 'Close programs that have library.db open.', { cause });
  }
}
