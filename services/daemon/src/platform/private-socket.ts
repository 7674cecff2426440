import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import { requirePrivate } from './home.js';

/** How often a watched socket is looked for, ms. */
const LOOK_MS = 2_000;

/**
 * Listens on a Unix socket that only this user can connect to, and makes its folder, but none above it. A file that is there
 * already is left alone.
 * @throws AmbientError `forbidden` when its folder is not this user's own; the system's error when it cannot listen
 */
export async function listenPrivately(server: Server, socketPath: string): Promise<void> {
  const dir = path.dirname(socketPath);
  await mkdir(dir, { mode: 0o700 }).catch(ignorePresent);
  await requirePrivate(dir);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // The folder is 0700 already; this is the second lock on the same door.
  await chmod(socketPath, 0o600);
}

/**
 * Notices that a listening socket has lost its file, as when its folder is deleted under the daemon: it listens on, and
 * nobody can reach it. Only an absence counts; whatever else lies at the path is left alone. When what holds that folder is
 * gone or another one, as when a whole home is deleted, nothing is made in its place.
 */
export class SocketWatch {
  readonly #path: string;
  readonly #restore: () => Promise<void>;
  readonly #lookMs: number;
  /** Which folder it is that holds the socket's folder: numbers of deleted ones are used again, so its birth counts too. */
  #place: Promise<string | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** @param restore listens anew; it is called again later when it rejects */
  constructor(socketPath: string, restore: () => Promise<void>, lookMs = LOOK_MS) {
    this.#path = socketPath;
    this.#restore = restore;
    this.#lookMs = lookMs;
  }

  start(): void {
    this.#place = this.#findPlace();
    this.#timer ??= setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, this.#lookMs);
    this.#timer.unref();
  }

  /** Nothing is restored once it has resolved. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #look(): Promise<void> {
    const found = await lstat(this.#path).catch((error: NodeJS.ErrnoException) => error);
    if (!(found instanceof Error) || found.code !== 'ENOENT') return;
    const place = await this.#place;
    if (place === undefined || (await this.#findPlace()) !== place) return;
    await this.#restore().catch(() => undefined);
  }

  async #findPlace(): Promise<string | undefined> {
    const info = await stat(path.dirname(path.dirname(this.#path))).catch(() => undefined);
    return info === undefined ? undefined : `${info.dev}:${info.ino}:${info.birthtimeMs}`;
  }
}

function ignorePresent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
