import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { probe } from '@ambient/client';

/** Sees to it that a home has one tray icon. Who connects finds it there; who sends `quit` ends it. */
export class SingleInstance {
  readonly #socket: string;
  readonly #onQuit: () => void;
  #server: Server | undefined;

  constructor(runDir: string, onQuit: () => void) {
    this.#socket = path.join(runDir, 'tray.sock');
    this.#onQuit = onQuit;
  }

  /** @returns false when another tray shows this home already */
  async acquire(): Promise<boolean> {
    await mkdir(path.dirname(this.#socket), { recursive: true, mode: 0o700 });
    for (const last of [false, true]) {
      try {
        this.#server = await listen(this.#socket, this.#onQuit);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || last) throw error;
        if (await probe(this.#socket)) return false;
        await rm(this.#socket, { force: true });
      }
    }
    return false;
  }

  async release(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

function listen(file: string, onQuit: () => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (data) => {
        if (String(data).trim() === 'quit') onQuit();
        socket.end();
      });
      socket.unref();
    });
    server.once('error', reject);
    server.listen(file, () => {
      server.unref();
      resolve(server);
    });
  });
}
