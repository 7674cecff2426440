import { chmod, lstat } from 'node:fs/promises';
import type { Server } from 'node:net';
import path from 'node:path';
import { makeFolder } from '@ambient/client';
import { requirePrivate } from './home.js';

/** How often a watched socket is looked for, ms. */
const LOOK_MS = 2_000;

/**
 * Listens on a Unix socket that only this user can connect to. A file that is there already is left alone.
 * @throws AmbientError `forbidden` when its folder is not this user's own; the system's error when it cannot listen
 */
export async function listenPrivately(server: Server, socketPath: string): Promise<void> {
  const dir = path.dirname(socketPath);
  await makeFolder(dir);
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
 * nobody can reach it. Only an absence counts; whatever else lies at the path is left alone.
 */
export class SocketWatch {
  readonly #path: string;
  readonly #restore: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** @param restore listens anew; it is called again later when it rejects */
  constructor(socketPath: string, restore: () => Promise<void>) {
    this.#path = socketPath;
    this.#restore = restore;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, LOOK_MS);
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
    await this.#restore().catch(() => undefined);
  }
}
