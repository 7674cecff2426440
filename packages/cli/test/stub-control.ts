import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import type { DaemonStatus, McpClient, SessionDetail } from '@ambient/contract';
import { doneSummary, idleStatus } from '@ambient/contract/test-kit';

/** The MCP routes of the control API, kept in memory: for tests of what ambientctl does with the answers. */
export class StubControl {
  readonly clients: McpClient[] = [];
  readonly calls: string[] = [];
  /** What the daemon takes for a session, and its id. */
  readonly sessions = new Map<string, string>();
  enabled = false;
  readonly #socket: string;
  readonly #server: Server;

  constructor(home: string) {
    this.#socket = path.join(home, 'run', 'control.sock');
    this.#server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const [status, reply] = this.#answer(req.method ?? '', (req.url ?? '').split('?')[0] ?? '', text === '' ? {} : JSON.parse(text));
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
      });
    });
  }

  async start(): Promise<void> {
    mkdirSync(path.dirname(this.#socket), { recursive: true, mode: 0o700 });
    await new Promise<void>((resolve) => this.#server.listen(this.#socket, resolve));
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(method: string, url: string, body: Record<string, unknown>): [number, unknown] {
    const id = /^\/v1\/mcp\/clients\/(.+)$/.exec(url)?.[1];
    const client = this.clients.find((known) => known.id === id);
    if (method !== 'GET') this.calls.push(`${method} ${url.replace(id ?? '-', ':id')}`);
    if (method === 'GET' && url === '/v1/status') return [200, this.#status()];
    if (method === 'GET' && url === '/v1/mcp') return [200, { enabled: this.enabled, socket: null, clients: this.clients }];
    const session = /^\/v1\/sessions\/(.+)$/.exec(url)?.[1];
    if (method === 'GET' && session !== undefined) {
      const found = this.sessions.get(decodeURIComponent(session));
      return found === undefined
        ? [404, { code: 'not_found', message: `no session ${session}`, hint: 'List the sessions with `ambientctl sessions`.' }]
        : [200, detailOf(found)];
    }
    if (method === 'POST' && url === '/v1/mcp/clients') {
      const made: McpClient = {
        id: `p${randomUUID().slice(0, 8)}`,
        name: String(body.name),
        host: typeof body.host === 'string' ? body.host : null,
        access: (body.access as McpClient['access'] | undefined) ?? 'enabled',
        toolsets: (body.toolsets as McpClient['toolsets'] | undefined) ?? ['sessions', 'assistant', 'library'],
        scope: (body.scope as McpClient['scope'] | undefined) ?? { tags: [], since: null, sessions: [] },
        created_at: new Date().toISOString(),
        last_used_at: null,
        expires_at: new Date(Date.now() + 90 * 86_400_000).toISOString(),
        revoked_at: null,
        connections: 0,
      };
      this.clients.push(made);
      return [200, { client: made, token: `secret-${made.id}` }];
    }
    if (client !== undefined && method === 'PATCH') return [200, Object.assign(client, body)];
    if (client !== undefined && method === 'DELETE') return [200, Object.assign(client, { revoked_at: new Date().toISOString() })];
    return [404, { code: 'not_found', message: `No ${method} ${url} here.` }];
  }

  #status(): DaemonStatus {
    return idleStatus({
      pid: process.pid,
      home: path.dirname(path.dirname(this.#socket)),
      mcp: { enabled: this.enabled, socket: null, connections: 0 },
    });
  }
}

function detailOf(id: string): SessionDetail {
  return { summary: doneSummary(id, { dir: id, duration_s: 1 }), file: null, lines: 0, bleed: 0 };
}
