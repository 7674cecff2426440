import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenPrivately, SocketWatch } from './private-socket.js';

const LOOK_MS = 20;

let base: string;
let home: string;
let socket: string;
let restored: number;
let watch: SocketWatch;
const servers: Server[] = [];
beforeEach(async () => {
  base = mkdtempSync(path.join(os.tmpdir(), 'prs-'));
  home = path.join(base, 'h');
  socket = path.join(home, 'run', 'a.sock');
  mkdirSync(home);
  restored = 0;
  const listen = async (): Promise<void> => {
    const server = createServer();
    servers.push(server);
    await listenPrivately(server, socket);
  };
  await listen();
  const restore = async (): Promise<void> => {
    await listen();
    restored += 1;
  };
  watch = new SocketWatch(socket, restore, LOOK_MS);
  watch.start();
});
afterEach(async () => {
  await watch.stop();
  for (const server of servers.splice(0)) server.close();
  rmSync(base, { recursive: true, force: true });
});

describe('a watched socket', () => {
  it('is made again with its folder, both private', async () => {
    rmSync(path.dirname(socket), { recursive: true });
    while (restored === 0) await sleep(LOOK_MS);
    expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  it('does not bring a deleted home back, nor moves into one that took its place', async () => {
    rmSync(home, { recursive: true });
    await sleep(LOOK_MS * 10);
    expect(existsSync(home)).toBe(false);
    mkdirSync(path.dirname(socket), { recursive: true });
    await sleep(LOOK_MS * 10);
    expect([existsSync(socket), restored]).toEqual([false, 0]);
  });

  it('leaves alone what lies in its place', async () => {
    rmSync(socket);
    writeFileSync(socket, 'mine');
    await sleep(LOOK_MS * 10);
    expect([statSync(socket).isFile(), restored]).toEqual([true, 0]);
  });
});
