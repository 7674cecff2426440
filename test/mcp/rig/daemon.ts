import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AmbientClient } from '@ambient/client';
import { type HomePaths, homePaths, Scope } from '@ambient/contract';
import { shimPath } from '@ambient/mcp-shim';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { AnyTransport, ClientKind } from './client.js';
import type { Rig } from './rig.js';

const DAEMON = path.join(path.dirname(createRequire(import.meta.url).resolve('@ambient/daemon/package.json')), 'bin/ambientd.js');
const SAMPLE = path.resolve(import.meta.dirname, '../../fixtures/conversation');

/** The real daemon as a process of its own, in a home of its own. */
export class DaemonProcess {
  readonly paths: HomePaths;
  readonly control: AmbientClient;
  #child: ChildProcess | undefined;
  #output = '';

  constructor() {
    const home = mkdtempSync(path.join(os.tmpdir(), 'am-'));
    this.paths = homePaths(home, process.getuid?.() ?? 0);
    this.control = new AmbientClient(this.paths.controlSocket);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [DAEMON, 'run'], { env: { ...process.env, AMBIENT_HOME: this.paths.home } });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
      });
    while (!(await this.control.isAlive())) {
      if (child.exitCode !== null) throw new Error(`The daemon ended: ${this.#output}`);
      await sleep(20);
    }
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exit;
  }

  remove(): void {
    rmSync(this.paths.home, { recursive: true, force: true });
  }
}

/** How a host launches the shim for a token. */
export function shimLaunch(paths: HomePaths, token: string): { command: string; args: string[]; env: Record<string, string> } {
  return {
    command: process.execPath,
    args: [shimPath()],
    env: { HOME: paths.home, PATH: process.env.PATH ?? '', AMBIENT_HOME: paths.home, AMBIENT_MCP_TOKEN: token },
  };
}

/** A stdio transport of the SDK that the client comes from. */
export function shimTransport(paths: HomePaths, token: string, kind: ClientKind): AnyTransport {
  const launch = { ...shimLaunch(paths, token), stderr: 'ignore' as const };
  return kind === 'v1' ? new StdioClientTransportV1(launch) : new StdioClientTransport(launch);
}

/** The real daemon, reached through the real shim; recordings play the bundled conversation at its own pace. */
export async function daemonRig(prepare: (paths: HomePaths) => Promise<void>): Promise<Rig> {
  const daemon = new DaemonProcess();
  const { paths, control } = daemon;
  await prepare(paths);
  await daemon.start();
  await control.call('mcpEnable', { body: {} });
  const live = async (): Promise<string | null> => (await control.call('status', {})).live?.id ?? null;
  return {
    name: 'shim',
    paths,
    records: false,
    async token({ access, toolsets, scope } = {}) {
      const body = { name: 'test', access, toolsets, ...(scope ? { scope: Scope.parse(scope) } : {}) };
      const { client, token } = await control.call('mcpCreate', { body });
      return { id: client.id, token };
    },
    transport: (token, kind) => shimTransport(paths, token, kind),
    pipe: (token, input) => pipe(paths, token, input),
    async start(name) {
      const files = { room_file: path.join(SAMPLE, 'room.wav'), call_file: path.join(SAMPLE, 'call.wav'), pace: 'real' as const };
      return (await control.call('start', { body: { name, ...files } })).id;
    },
    async stop() {
      await control.call('stop', { body: {} });
    },
    async pause() {
      await control.call('pause', { body: {} });
    },
    async resume() {
      await control.call('resume', { body: {} });
    },
    async heard() {
      const gone = new AbortController();
      for await (const event of control.events({ signal: gone.signal })) if (event.type === 'line') break;
      gone.abort();
    },
    async finished(session) {
      while (!['done', 'interrupted'].includes((await control.call('session', { params: { session } })).summary.state)) await sleep(50);
    },
    live,
    approvals: async () => (await control.call('approvals', {})).approvals,
    decide: (id, decision) => control.call('decide', { params: { id }, body: { decision } }),
    audit: async () => (await control.call('mcpAudit', { query: { limit: 10_000 } })).entries,
    async set(id, { scope, ...change }) {
      await control.call('mcpSet', { params: { id }, body: { ...change, ...(scope ? { scope: Scope.parse(scope) } : {}) } });
    },
    async revoke(id) {
      await control.call('mcpRevoke', { params: { id } });
    },
    async close() {
      await daemon.end('SIGTERM');
      daemon.remove();
    },
  };
}

async function pipe(paths: HomePaths, token: string, input: string): Promise<string> {
  const { command, args, env } = shimLaunch(paths, token);
  const shim = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  shim.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  shim.stdin.end(input);
  await new Promise((resolve) => shim.once('close', resolve));
  return output;
}
