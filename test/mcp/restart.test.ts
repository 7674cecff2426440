import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLIENT_KINDS, type ClientKind, connectClient, type McpTestClient } from './rig/client.js';
import { DaemonProcess, shimTransport } from './rig/daemon.js';

const CTL = path.join(path.dirname(createRequire(import.meta.url).resolve('@ambient/cli/package.json')), 'bin/ambientctl.js');
const SAMPLE = path.resolve(import.meta.dirname, '../fixtures/conversation');

let daemon: DaemonProcess;
const open: McpTestClient[] = [];

beforeEach(async () => {
  daemon = new DaemonProcess();
  await daemon.start();
});

afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
  await daemon.end('SIGKILL');
  daemon.remove();
});

/** A client whose host runs the real shim. */
async function throughShim(kind: ClientKind, token: string): Promise<McpTestClient> {
  const client = await connectClient(kind, shimTransport(daemon.paths, token, kind));
  open.push(client);
  return client;
}

it('a daemon restart is no more than a slow call to any client, whether the daemon was killed or stopped', async () => {
  const token = await aToken();
  const clients = await Promise.all(CLIENT_KINDS.map((kind) => throughShim(kind, token)));
  for (const client of clients) expect((await client.listTools()).map(({ name }) => name)).toContain('get_status');
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await daemon.end(signal);
    const waiting = clients.map((client) => client.call('status'));
    await daemon.start();
    for (const reply of await Promise.all(waiting)) expect(JSON.parse(reply.text)).toMatchObject({ live: null, sessions: 0 });
    for (const client of clients) expect((await client.call('list_sessions')).structured).toMatchObject({ totalCount: 0 });
  }
});

it('a cursor has neither gap nor repeat over a restart in the middle of a recording', async () => {
  const token = await aToken();
  const clients = await Promise.all((['v1', 'v2 auto'] as const).map((kind) => throughShim(kind, token)));
  const { id } = await daemon.control.call('start', {
    body: { room_file: path.join(SAMPLE, 'room.wav'), call_file: path.join(SAMPLE, 'call.wav'), pace: 'real' },
  });
  const seen: unknown[][] = clients.map(() => []);
  let killed = false;
  for (let open = true; open; await sleep(200)) {
    open = false;
    for (const [i, client] of clients.entries()) {
      const lines = seen[i] ?? [];
      const reply = JSON.parse((await client.call('transcript', { session: id, since: lines.length })).text) as Reply;
      lines.push(...reply.lines);
      expect(reply.next).toBe(lines.length);
      open ||= reply.state !== 'done';
    }
    if (killed || seen.some((lines) => lines.length < 2)) continue;
    killed = true;
    await daemon.end('SIGKILL');
    await daemon.start();
  }
  expect(killed).toBe(true);
  for (const [i, client] of clients.entries()) {
    const whole = JSON.parse((await client.call('transcript', { session: id })).text) as Reply;
    expect(seen[i]).toEqual(whole.lines);
  }
});

it('a host that was connected by command gets in with a bare environment, is cut off by revoking, and connects again', async () => {
  await aToken();
  const file = path.join(daemon.paths.home, '.cursor/mcp.json');
  const connect = (): void => ambientctl('mcp', 'connect', 'cursor', '--credential', 'file');
  const launch = (): { command: string; args: string[]; env: Record<string, string> } =>
    JSON.parse(readFileSync(file, 'utf8')).mcpServers.ambient;
  const throughConfig = async (): Promise<McpTestClient> => {
    const { command, args, env } = launch();
    const client = await connectClient(
      'v1',
      new StdioClientTransportV1({ command, args, env: { HOME: daemon.paths.home, ...env }, stderr: 'ignore' }),
    );
    open.push(client);
    return client;
  };
  connect();
  const client = await throughConfig();
  expect(JSON.parse((await client.call('status')).text)).toMatchObject({ live: null });
  ambientctl('mcp', 'revoke', 'cursor');
  // Revoking takes the credential away too: which of the two the host hears of depends on how soon it asks.
  await expect(client.call('status')).rejects.toThrow(/This token has been revoked|revoked or unknown profile/);
  const old = launch().args;
  connect();
  expect(launch().args).not.toEqual(old);
  expect(JSON.parse((await (await throughConfig()).call('status')).text)).toMatchObject({ live: null });
});

interface Reply {
  readonly lines: unknown[];
  readonly next: number;
  readonly state: string;
}

function ambientctl(...args: string[]): void {
  execFileSync(process.execPath, [CTL, ...args], {
    env: { ...process.env, HOME: daemon.paths.home, AMBIENT_HOME: daemon.paths.home },
    stdio: 'pipe',
  });
}

async function aToken(): Promise<string> {
  await daemon.control.call('mcpEnable', { body: {} });
  return (await daemon.control.call('mcpCreate', { body: { name: 'test', access: 'trusted' } })).token;
}
