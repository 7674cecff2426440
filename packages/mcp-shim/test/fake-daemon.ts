import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type Json = Record<string, unknown>;

/** A queue that is awaited item by item. */
export class Feed<T> {
  readonly #items: T[] = [];
  readonly #waiters: ((item: T) => void)[] = [];

  push(item: T): void {
    const waiter = this.#waiters.shift();
    if (waiter) waiter(item);
    else this.#items.push(item);
  }

  next(): Promise<T> {
    const item = this.#items.shift();
    return item !== undefined ? Promise.resolve(item) : new Promise((resolve) => this.#waiters.push(resolve));
  }

  get queued(): readonly T[] {
    return this.#items;
  }
}

/** One shim's connection as the daemon sees it. */
export class FakeConnection {
  readonly handshake: Json;
  readonly lines = new Feed<string>();
  readonly ended: Promise<void>;
  readonly #socket: Socket;

  constructor(socket: Socket, handshake: Json) {
    this.#socket = socket;
    this.handshake = handshake;
    this.ended = new Promise((resolve) => {
      socket.on('end', () => resolve());
      socket.on('close', () => resolve());
    });
  }

  async message(): Promise<Json> {
    return JSON.parse(await this.lines.next());
  }

  send(message: Json | string): void {
    this.#socket.write(`${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  /** Ends as a daemon that has answered everything. */
  end(): void {
    this.#socket.end();
  }

  /** Ends as a daemon that was killed. */
  cut(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }
}

/** Listens on a home's mcp.sock and does what the test says. */
export class FakeDaemon {
  readonly home = mkdtempSync(path.join(tmpdir(), 'am-'));
  readonly connections = new Feed<FakeConnection>();
  readonly handshakes: Json[] = [];
  /** The answer to a handshake. */
  reply: Json = { ok: true, client: 'c1', name: 'Test' };
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  get socketPath(): string {
    return path.join(this.home, 'run', 'mcp.sock');
  }

  async listen(): Promise<void> {
    mkdirSync(path.dirname(this.socketPath), { recursive: true, mode: 0o700 });
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.socketPath, resolve));
  }

  /** The socket goes away, with or without its connections. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    let rest = '';
    let connection: FakeConnection | undefined;
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (connection) {
          connection.lines.push(line);
          continue;
        }
        const handshake = JSON.parse(line) as Json;
        this.handshakes.push(handshake);
        socket.write(`${JSON.stringify(this.reply)}\n`);
        if (this.reply.ok !== true) {
          socket.end();
          return;
        }
        connection = new FakeConnection(socket, handshake);
        this.connections.push(connection);
      }
    });
    socket.on('end', () => {
      if (connection && rest !== '') connection.lines.push(rest);
      if (!connection) socket.end();
    });
  }
}
