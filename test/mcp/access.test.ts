import { spawnSync } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { McpHandshakeReply } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from './contract/helpers.js';
import { type InProcess, inProcess } from './rig/in-process.js';
import { openRaw, RawLines } from './rig/socket-transport.js';

const ALL = ['sessions', 'assistant', 'library'] as const;
let rig: InProcess;
/** Added to the daemon's wall clock, ms. */
let ahead = 0;
beforeEach(async () => {
  ahead = 0;
  rig = await inProcess({ clock: { now: () => new Date(Date.now() + ahead), monotonicMs: () => performance.now() } });
});
afterEach(() => rig.close());

const create = (name = 'host', access: 'enabled' | 'trusted' | 'disabled' = 'enabled') =>
  rig.mcp.create({ name, access, toolsets: [...ALL] });
const knock = async (first: string): Promise<McpHandshakeReply> => {
  const { socket, reply } = await openRaw(rig.paths.mcpSocket, first);
  socket.destroy();
  return reply;
};

describe('the socket', () => {
  test('is off by default, private while on, and gone when off with everyone on it', async () => {
    const { token } = await create();
    expect((await lstat(rig.paths.mcpSocket)).mode & 0o777).toBe(0o600);
    expect((await lstat(rig.paths.run)).mode & 0o777).toBe(0o700);
    const line = await RawLines.open(rig.paths.mcpSocket, token);
    expect(rig.mcp.state()).toEqual({ enabled: true, socket: rig.paths.mcpSocket, connections: 1 });
    await rig.mcp.disable();
    expect(await line.next()).toBeUndefined();
    await expect(lstat(rig.paths.mcpSocket)).rejects.toThrow(/ENOENT/);
    expect(rig.mcp.state()).toEqual({ enabled: false, socket: null, connections: 0 });
    await rig.mcp.enable();
    expect(await knock(token)).toMatchObject({ ok: true, name: 'host' });
  });

  test('left over from a crash is replaced; anything else in its place is not', async () => {
    const off = await inProcess({ enabled: false });
    try {
      await expect(lstat(off.paths.mcpSocket)).rejects.toThrow();
      spawnSync(process.execPath, [
        '-e',
        `require('net').createServer().listen(${JSON.stringify(off.paths.mcpSocket)}, () => process.kill(process.pid, 'SIGKILL'))`,
      ]);
      expect((await lstat(off.paths.mcpSocket)).isSocket()).toBe(true);
      await off.mcp.enable();
      const { token } = await off.mcp.create({ name: 'x', access: 'enabled', toolsets: [...ALL] });
      expect((await openRaw(off.paths.mcpSocket, token)).reply.ok).toBe(true);
    } finally {
      await off.close();
    }
  });

  test('records that cannot be read keep everyone out, are not overwritten, and do not keep the daemon from starting', async () => {
    const other = path.join(rig.paths.home, 'elsewhere.json');
    await writeFile(other, '{}');
    const linked = await inProcess({
      prepare: async ({ mcp }) => {
        await mkdir(mcp);
        await symlink(other, path.join(mcp, 'clients.json'));
      },
    });
    try {
      expect(linked.mcp.state()).toMatchObject({ socket: null });
      await expect(linked.mcp.enable()).rejects.toMatchObject({ code: 'refused_symlink' });
      expect(await readFile(other, 'utf8')).toBe('{}');
    } finally {
      await linked.close();
    }
    const garbled = await inProcess({
      prepare: async ({ mcp }) => {
        await mkdir(mcp);
        await writeFile(path.join(mcp, 'clients.json'), '{"clients": [');
      },
    });
    try {
      expect(garbled.mcp.state().socket).toBe(garbled.paths.mcpSocket);
      expect(await garbled.mcp.clients()).toEqual([]);
      const kept = (await readdir(garbled.paths.mcp)).filter((name) => name.startsWith('clients.json.broken-'));
      expect(kept).toHaveLength(1);
      expect(garbled.mcp.warnings()).toMatchObject([{ code: 'mcp_clients_damaged', message: expect.stringContaining(kept[0] ?? '-') }]);
    } finally {
      await garbled.close();
    }
  });

  test.skipIf(process.getuid?.() !== 0)('is closed to another user, and so is every secret', async () => {
    const { token } = await create();
    const tries = [rig.paths.mcpSocket, path.join(rig.paths.mcp, 'clients.json'), path.join(rig.paths.mcp, 'audit.jsonl')];
    const script = `
      const fs = require('fs'), net = require('net');
      const out = {};
      for (const f of ${JSON.stringify(tries.slice(1))}) { try { fs.readFileSync(f); out[f] = 'read'; } catch (e) { out[f] = e.code; } }
      net.connect(${JSON.stringify(tries[0])}).on('connect', () => { out.socket = 'open'; done(); }).on('error', (e) => { out.socket = e.code; done(); });
      function done() { console.log(JSON.stringify(out)); process.exit(); }`;
    const other = spawnSync(process.execPath, ['-e', script], { uid: 65534, gid: 65534, cwd: '/', env: {} });
    expect(JSON.parse(other.stdout.toString()) as unknown).toEqual({
      [tries[1] ?? '']: 'EACCES',
      [tries[2] ?? '']: 'EACCES',
      socket: 'EACCES',
    });
    expect(token).toMatch(/^amb_/);
  });
});

describe('tokens', () => {
  test('amb_ and 256 bits; only the hash is kept, in a private file', async () => {
    const { client, token } = await create();
    expect(token).toMatch(/^amb_[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(client)).not.toContain(token.slice(4));
    const file = path.join(rig.paths.mcp, 'clients.json');
    expect((await lstat(file)).mode & 0o777).toBe(0o600);
    for (const entry of await readdir(rig.paths.home, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) expect(await readFile(path.join(entry.parentPath, entry.name), 'utf8')).not.toContain(token.slice(4));
    expect(JSON.stringify(await rig.mcp.clients())).not.toMatch(/token|sha256/);
  });

  test('a wrong, a revoked, an expired and a disabled one get distinct, useful answers', async () => {
    const revoked = await create('revoked');
    await rig.mcp.revoke(revoked.client.id);
    const disabled = await create('disabled', 'disabled');
    const expired = await create('expired');
    ahead = 91 * 86_400_000;
    const replies = [await knock('amb_wrong'), await knock(revoked.token), await knock(expired.token)];
    const fresh = await create('fresh');
    const off = await create('off', 'disabled');
    replies.push(await knock(off.token));
    expect(replies.map((reply) => !reply.ok && reply.code)).toEqual(['wrong_token', 'revoked', 'expired', 'disabled']);
    for (const reply of replies) {
      expect(reply).toMatchObject({ message: expect.stringMatching(/\.$/), hint: expect.stringMatching(/`ambientctl mcp /) });
      expect(JSON.stringify(reply)).not.toContain('amb_');
    }
    expect(await knock(fresh.token)).toMatchObject({ ok: true });
    expect(disabled.client.access).toBe('disabled');
  });

  test('use keeps a client alive: the 90 days count from the last one, across restarts', async () => {
    const { client, token } = await create();
    ahead = 60 * 86_400_000;
    expect(await knock(token)).toMatchObject({ ok: true });
    await rig.restart();
    ahead = 120 * 86_400_000;
    expect(await knock(token)).toMatchObject({ ok: true });
    const [shown] = (await rig.mcp.clients()).filter(({ id }) => id === client.id);
    expect(Date.parse(shown?.expires_at ?? '') - Date.now() - ahead).toBeGreaterThan(89 * 86_400_000);
  });

  test('a client can be named by id or by its only name; unknown ones are said to be', async () => {
    await create('one');
    await create('two');
    await create('two');
    expect(await rig.mcp.set('one', { access: 'trusted' })).toMatchObject({ name: 'one', access: 'trusted' });
    await expect(rig.mcp.revoke('two')).rejects.toMatchObject({ code: 'ambiguous' });
    await expect(rig.mcp.revoke('three')).rejects.toMatchObject({ code: 'not_found' });
    await rig.mcp.revoke('one');
    await expect(rig.mcp.set('one', { access: 'enabled' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a scope that is no date is refused when it is set', async () => {
    await expect(
      rig.mcp.create({ name: 'x', access: 'enabled', toolsets: ['sessions'], scope: { tags: [], sessions: [], since: 'soon' } }),
    ).rejects.toMatchObject({
      code: 'bad_request',
    });
  });
});

describe('a connection', () => {
  test('must introduce itself: within 4 KiB, as a handshake', async () => {
    expect(await knock('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toMatchObject({ ok: false, code: 'bad_handshake' });
    expect(await knock(`{"ambient":1,"token":"${'x'.repeat(5000)}"}`)).toMatchObject({ ok: false, code: 'bad_handshake' });
  });

  test('is cut at once when its client is revoked or disabled, also in the middle of a call', async () => {
    for (const change of ['revoke', 'disable'] as const) {
      const { client, token } = await create();
      const line = await RawLines.open(rig.paths.mcpSocket, token);
      const { id } = await rig.recorder.start({ mic: true, system: true, pace: 'real' });
      const seed = (await line.ask(1, 'tools/call', { name: 'live_transcript', arguments: { sessionId: id } })) as {
        result: { structuredContent: { epoch: string; sinceSequence: number } };
      };
      const { epoch, sinceSequence } = seed.result.structuredContent;
      line.send({
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'live_transcript', arguments: { sessionId: id, epoch, sinceSequence, waitSeconds: 20 } },
      });
      await until(() => rig.mcp.load().waiting === 1, 'it waits');
      if (change === 'revoke') await rig.mcp.revoke(client.id);
      else await rig.mcp.set(client.id, { access: 'disabled' });
      expect(await line.next()).toBeUndefined();
      await until(() => rig.mcp.load().waiting === 0, 'the waiter is gone');
      expect((await knock(token)).ok).toBe(false);
      await rig.recorder.stop();
    }
  });

  test('a change of scope acts on an open connection', async () => {
    const session = await rig.addSession({ name: 'Private', lines: [['room', 'Hidden.']] });
    const { client, token } = await create();
    const line = await RawLines.open(rig.paths.mcpSocket, token);
    const read = (id: number) => line.ask(id, 'tools/call', { name: 'transcript', arguments: { session: session.id } });
    expect(await read(1)).toMatchObject({ result: { isError: false } });
    await rig.mcp.set(client.id, { scope: { tags: ['public'], since: null, sessions: [] } });
    expect(await read(2)).toMatchObject({ result: { isError: true, content: [{ text: `no session ${session.id}` }] } });
    await rig.mcp.set(client.id, { scope: { tags: [], since: null, sessions: [session.id] } });
    expect(await read(3)).toMatchObject({ result: { isError: false } });
    line.destroy();
  });

  test('beyond 64 of one client are asked to come back later', async () => {
    const { token } = await create();
    const lines = await Promise.all(Array.from({ length: 64 }, () => RawLines.open(rig.paths.mcpSocket, token)));
    expect(await knock(token)).toMatchObject({ ok: false, code: 'slow_down', retry_after_s: 5 });
    const { token: another } = await create('another');
    expect(await knock(another)).toMatchObject({ ok: true });
    for (const line of lines) line.destroy();
  });
});

describe('guessing', () => {
  test('a flood of wrong tokens slows to a crawl while a right one is let in at once', async () => {
    const { token } = await create();
    let answered = 0;
    let stop = false;
    const guess = async (): Promise<void> => {
      while (!stop) {
        await openRaw(rig.paths.mcpSocket, `amb_${Math.random()}`)
          .then(({ socket, reply }) => {
            if (!reply.ok) answered++;
            socket.destroy();
          })
          .catch(() => undefined);
      }
    };
    const guessers = Array.from({ length: 100 }, guess);
    await until(() => rig.mcp.load().strangers >= 90, 'the guessers wait');
    const atStart = answered;
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const began = performance.now();
      expect(await knock(token)).toMatchObject({ ok: true });
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    times.sort((a, b) => a - b);
    console.log(`guesses answered in a second: ${answered - atStart}; a right token waited ${times[10]?.toFixed(1)} ms (median)`);
    expect(answered - atStart).toBeLessThan(20);
    expect(times[10]).toBeLessThan(100);
    stop = true;
    await rig.mcp.disable();
    await Promise.all(guessers);
  });

  test('connections that say nothing do not keep others out', async () => {
    const { token } = await create();
    const silent = Array.from({ length: 300 }, () => connect(rig.paths.mcpSocket).on('error', () => undefined));
    await until(() => rig.mcp.load().strangers >= 250, 'they are in');
    expect(rig.mcp.load().strangers).toBeLessThanOrEqual(256);
    expect(await knock(token)).toMatchObject({ ok: true });
    for (const socket of silent) socket.destroy();
  });
});
