import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../platform/clock.js';
import { readNoFollow } from '../platform/files.js';
import { replaceFile } from './atomic-file.js';
import { idTime } from './session-id.js';

const FILE = '.deleted';
/** A minute comes again at most this much later, ms: the clock is set back, or summer time ends. */
const KEPT_MS = 26 * 3_600_000;

/**
 * Ids of sessions that were deleted lately, kept in the folder of the sessions: an id that is remembered elsewhere must not
 * come to mean another conversation. Forgotten as soon as no new session can get them.
 */
export class DeletedIds {
  readonly #file: string;
  readonly #clock: Clock;
  #ids = new Set<string>();

  constructor(dir: string, clock: Clock) {
    this.#file = path.join(dir, FILE);
    this.#clock = clock;
  }

  /** Reads what earlier daemons left. What cannot be read is no reason not to start. */
  async load(): Promise<void> {
    const bytes = await readNoFollow(this.#file).catch(() => undefined);
    if (bytes === undefined) return;
    this.#ids = new Set(
      bytes
        .toString('utf8')
        .split('\n')
        .filter((id) => this.#matters(id)),
    );
    await this.#save();
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Where the disk does not take it, this daemon still knows. */
  async add(id: string): Promise<void> {
    this.#ids = new Set([...this.#ids, id].filter((known) => this.#matters(known)));
    await this.#save();
  }

  #matters(id: string): boolean {
    const time = idTime(id);
    return time !== undefined && this.#clock.now().getTime() - time < KEPT_MS;
  }

  async #save(): Promise<void> {
    const content = [...this.#ids].map((id) => `${id}\n`).join('');
    await (content === '' ? rm(this.#file, { force: true }) : replaceFile(this.#file, content)).catch(() => {});
  }
}
