import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  AmbientError,
  type DaemonEvent,
  type DaemonStatus,
  type HomePaths,
  HTTP_STATUS,
  homePaths,
  type Route,
  type RouteInput,
  type RouteName,
  routes,
} from '@ambient/contract';
import { idleStatus } from '@ambient/contract/test-kit';
import { type WebSocket, WebSocketServer } from 'ws';

type Reply<N extends RouteName> = (typeof routes)[N]['reply']['_output'];
export type FakeHandlers = { [N in RouteName]?: (input: RouteInput<N>) => Reply<N> | Promise<Reply<N>> };

export const IDLE: DaemonStatus = idleStatus({ version: '9.9.9', pid: process.pid, home: '/nowhere' });

/** Answers the control API's routes on a home's socket with what a test says, checked against the contract both ways. */
export class FakeDaemon {
  readonly paths: HomePaths;
  /** Calls seen, in order. */
  readonly calls: { name: RouteName; input: unknown }[] = [];
  handlers: FakeHandlers;
  status: DaemonStatus = IDLE;
  readonly #clients = new Set<WebSocket>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(home: string, handlers: FakeHandlers = {}) {
    this.paths = homePaths(home, process.getuid?.() ?? 0);
    this.handlers = handlers;
  }

  async start(): Promise<void> {
    mkdirSync(this.paths.run, { recursive: true, mode: 0o700 });
    rmSync(this.paths.controlSocket, { force: true });
    const server = createServer((request, response) => void this.#answer(request, response));
    const events = new WebSocketServer({ noServer: true });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('upgrade', (request, socket, head) =>
      events.handleUpgrade(request, socket, head, (client) => {
        this.#clients.add(client);
        client.on('close', () => this.#clients.delete(client));
        client.send(JSON.stringify({ type: 'status', status: this.status } satisfies DaemonEvent));
      }),
    );
    await new Promise<void>((resolve) => server.listen(this.paths.controlSocket, resolve));
    chmodSync(this.paths.controlSocket, 0o600);
    this.#server = server;
  }

  /** As when the daemon is killed: every connection is cut and nothing answers any more. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  emit(event: DaemonEvent): void {
    for (const client of this.#clients) client.send(JSON.stringify(event));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    try {
      const { name, route, params, query } = match(request.method ?? '', request.url ?? '');
      const input = {
        ...(route.params ? { params: route.params.parse(params) } : {}),
        ...(route.query ? { query: route.query.parse(query) } : {}),
        ...(route.body ? { body: route.body.parse(JSON.parse(text === '' ? '{}' : text)) } : {}),
      };
      this.calls.push({ name, input });
      const handler = this.handlers[name] as ((input: unknown) => unknown) | undefined;
      if (handler === undefined && name !== 'status') throw new AmbientError('internal', `The test has no answer to ${name}.`);
      const reply = route.reply.parse(await (handler ? handler(input) : this.status));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    } catch (error) {
      const body = error instanceof AmbientError ? error.toBody() : { code: 'internal' as const, message: String(error) };
      response.writeHead(HTTP_STATUS[body.code], { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
  }
}

function match(method: string, url: string): { name: RouteName; route: Route; params: Record<string, string>; query: object } {
  const [path = '', search = ''] = url.split('?');
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map((found) => found[1] ?? '');
    const found = new RegExp(`^${route.path.replace(/:\w+/g, '([^/]*)')}$`).exec(path);
    if (route.method !== method || found === null) continue;
    const params = Object.fromEntries(names.map((key, i) => [key, decodeURIComponent(found[i + 1] ?? '')]));
    return { name, route, params, query: Object.fromEntries(new URLSearchParams(search)) };
  }
  throw new AmbientError('not_found', `No route ${method} ${path}.`);
}
