import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { events } from './events.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'ev-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('events', () => {
  it.each(['Application Support', 'a: "b" 100% $x #?', 'ünï'])('are read from a socket in a folder called %s', async (name) => {
    const folder = path.join(dir, name);
    await mkdir(folder);
    const socketPath = path.join(folder, 's');
    const server = createServer();
    const sockets = new WebSocketServer({ server, path: '/v1/events' });
    sockets.on('connection', (socket) => {
      socket.send(JSON.stringify({ type: 'removed', session: 'x' }));
      socket.close();
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    try {
      const seen: unknown[] = [];
      for await (const event of events(socketPath)) seen.push(event);
      expect(seen).toEqual([{ type: 'removed', session: 'x' }]);
    } finally {
      sockets.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
  });

  it('fail as unavailable when nobody listens', async () => {
    const next = events(path.join(dir, 'none')).next();
    await expect(next).rejects.toMatchObject({ code: 'unavailable' });
  });
});
