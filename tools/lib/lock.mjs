import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StepError } from './steps.mjs';

/**
 * Runs `work` while no other process runs any for the same `root`.
 * The lock is a listening socket: the kernel closes it with its process, so a killed holder blocks nobody.
 */
export async function exclusively(root, work) {
  const name = `ambient-setup-${process.getuid?.() ?? 0}-${createHash('sha256').update(root).digest('hex').slice(0, 12)}.sock`;
  const socketPath = path.join(tmpdir(), name);
  let release = await take(socketPath);
  while (release === undefined) {
    if (await holderIsGone(socketPath)) rmSync(socketPath, { force: true });
    await sleep(50);
    release = await take(socketPath);
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/** A function that gives the lock back, or undefined when the path is taken. */
function take(socketPath) {
  return new Promise((resolve, reject) => {
    const waiting = new Set();
    const server = createServer((socket) => {
      waiting.add(socket);
      socket.once('close', () => waiting.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    server.once('error', (error) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else
        reject(new StepError(`No lock can be made in ${path.dirname(socketPath)} (${error.code}). Set TMPDIR to a short, writable path.`));
    });
    server.listen(socketPath, () =>
      resolve(() => {
        server.close();
        for (const socket of waiting) socket.destroy();
      }),
    );
  });
}

/** Waits until the process that listens on the path lets go. True when nobody listened there, and only the name is left. */
function holderIsGone(socketPath) {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.resume();
    socket.once('error', (error) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('close', () => resolve(false));
  });
}
