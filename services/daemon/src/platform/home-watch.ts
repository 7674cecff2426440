import { lstat } from 'node:fs/promises';
import path from 'node:path';

/** How often the home is looked for, ms. */
const LOOK_MS = 1_000;
/** Looks in a row that must miss it. */
const MISSES = 2;

/**
 * Notices that the home was removed, moved away or replaced under the daemon: what it still writes goes nowhere, and nobody
 * finds it any more.
 */
export class HomeWatch {
  readonly #file: string;
  readonly #onGone: () => void;
  #held: string | undefined;
  #misses = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param onGone called once */
  constructor(home: string, onGone: () => void) {
    this.#file = path.join(home, 'daemon.lock');
    this.#onGone = onGone;
  }

  /** To be called while the home's lock is held. */
  async start(): Promise<void> {
    this.#held = await identity(this.#file);
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    this.#misses = (await identity(this.#file)) === this.#held ? 0 : this.#misses + 1;
    if (this.#misses < MISSES || this.#timer === undefined) return;
    this.stop();
    this.#onGone();
  }
}

async function identity(file: string): Promise<string | undefined> {
  const info = await lstat(file).catch(() => undefined);
  return info && `${info.dev}:${info.ino}`;
}
