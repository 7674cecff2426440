import { lstatSync } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { AmbientError, type McpHandshakeReply } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import { listenPrivately, SocketWatch } from '../platform/private-socket.js';
import type { ClientRecord } from './client-store.js';
import type { ClientRegistry } from './clients.js';
import { readHandshake, refusal } from './handshake.js';
import { GuessThrottle } from './throttle.js';
import { SocketTransport } from './transport.js';

/** Connections of known clients at once; a host may hold two or three. */
export const MAX_CONNECTIONS = 256;
export const MAX_CONNECTIONS_PER_CLIENT = 64;
/** Connections that have not shown a valid token yet; when there are more, the longest waiting is dropped. */
export const MAX_STRANGERS = 256;

/** One connection of a known client. */
export interface Connection {
  readonly clientId: string;
  readonly transport: SocketTransport;
  /** Ends the connection at once: what is in flight is not answered any more. */
  readonly cut: () => void;
}

interface SocketServerDeps {
  readonly path: string;
  readonly clients: ClientRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Speaks MCP on the connection until it ends. */
  readonly serve: (connection: Connection) => void;
  /** The number of connections changed. */
  readonly onCount: () => void;
}

/** `mcp.sock`: lets known clients in. The socket exists from `open` to `close`. */
export class McpSocketServer {
  readonly #deps: SocketServerDeps;
  readonly #throttle: GuessThrottle;
  readonly #watch: SocketWatch;
  readonly #connections = new Set<Connection>();
  /** Connections without a valid token, oldest first, each with what drops it. */
  readonly #strangers = new Map<Socket, () => void>();
  #server: Server | undefined;
  /** Which file the socket is. */
  #inode: bigint | undefined;
  #restoring: Promise<void> | undefined;

  constructor(deps: SocketServerDeps) {
    this.#deps = deps;
    this.#throttle = new GuessThrottle(deps.clock);
    this.#watch = new SocketWatch(deps.path, () => this.#restore());
  }

  get isOpen(): boolean {
    return this.#server?.listening ?? false;
  }

  /** It is open, and its file is where clients look for it. */
  get isReachable(): boolean {
    return this.isOpen && inodeOf(this.#deps.path) === this.#inode;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get strangers(): number {
    return this.#strangers.size;
  }

  connectionsOf(clientId: string): Connection[] {
    return [...this.#connections].filter((connection) => connection.clientId === clientId);
  }

  /** The home's lock is held by this process, so a socket file found here is left over from a crash. */
  async open(): Promise<void> {
    if (this.#restoring !== undefined) await this.#restoring.catch(() => undefined);
    if (this.#server !== undefined && (this.isReachable || !this.isOpen)) return;
    await this.removeStale();
    try {
      if (this.#server === undefined) await this.#listen();
      else await this.#restore();
    } catch (cause) {
      throw new AmbientError('unavailable', 'mcp.sock cannot be opened.', 'See `ambientctl daemon logs`.', { cause });
    }
    this.#watch.start();
  }

  /** Removes the socket that a crash left behind; the one that is open stays. */
  async removeStale(): Promise<void> {
    if (!this.isReachable) await removeStaleSocket(this.#deps.path);
  }

  /** Disconnects everyone and removes the socket. */
  async close(): Promise<void> {
    const restored = this.#watch.stop();
    const server = this.#server;
    this.#server = undefined;
    for (const [socket] of [...this.#strangers]) {
      say(socket, refusal('closing'));
      this.#drop(socket);
    }
    for (const connection of [...this.#connections]) connection.cut();
    await restored;
    if (server === undefined) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await unlink(this.#deps.path).catch(() => undefined);
  }

  /** Ends every connection of a client. */
  cut(clientId: string): void {
    for (const connection of this.connectionsOf(clientId)) connection.cut();
  }

  async #listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => void this.#admit(socket));
    this.#server = server;
    try {
      await listenPrivately(server, this.#deps.path);
    } catch (error) {
      if (this.#server === server) this.#server = undefined;
      server.close();
      throw error;
    }
    server.on('error', (error) => this.#deps.logger.error({ err: error }, 'mcp: socket'));
    this.#inode = inodeOf(this.#deps.path);
    // Closed in the meantime.
    if (this.#server !== server) server.close();
  }

  /** The file of the socket is gone: connections stay, and new ones need a new socket. */
  #restore(): Promise<void> {
    this.#restoring ??= this.#listenAnew().finally(() => {
      this.#restoring = undefined;
    });
    return this.#restoring;
  }

  async #listenAnew(): Promise<void> {
    // Closing removes the file at its path: first, so that it cannot be the new one.
    this.#server?.close();
    await this.#listen();
    this.#deps.logger.warn({ socket: this.#deps.path }, 'mcp: the socket was removed; made again');
  }

  async #admit(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (this.#strangers.size >= MAX_STRANGERS) {
      const [oldest] = this.#strangers.keys();
      if (oldest !== undefined) this.#drop(oldest);
    }
    this.#strangers.set(socket, () => socket.destroy());
    socket.once('close', () => this.#strangers.delete(socket));

    const read = await readHandshake(socket);
    if (read === undefined || !this.#strangers.has(socket)) return this.#drop(socket);
    if (!read.ok) return this.#refuse(socket, refusal('bad_handshake', { message: read.reason }));
    const auth = this.#deps.clients.authenticate(read.handshake.token);
    if ('failure' in auth) {
      if (auth.failure !== 'wrong_token') return this.#refuse(socket, refusal(auth.failure));
      return this.#refuseLater(socket, this.#throttle.failed());
    }
    if (this.#connections.size >= MAX_CONNECTIONS || this.connectionsOf(auth.record.id).length >= MAX_CONNECTIONS_PER_CLIENT)
      return this.#refuse(socket, refusal('slow_down', { retryAfterS: 5 }));
    this.#strangers.delete(socket);
    this.#welcome(socket, auth.record, read.rest);
  }

  #welcome(socket: Socket, record: Readonly<ClientRecord>, rest: Buffer): void {
    say(socket, { ok: true, client: record.id, name: record.name });
    const transport = new SocketTransport(socket, rest);
    const connection: Connection = { clientId: record.id, transport, cut: () => transport.destroy() };
    this.#connections.add(connection);
    const gone = (): void => {
      if (this.#connections.delete(connection)) this.#deps.onCount();
    };
    socket.once('close', gone);
    if (socket.destroyed) {
      gone();
      return;
    }
    this.#deps.onCount();
    this.#deps.serve(connection);
  }

  #refuse(socket: Socket, reply: McpHandshakeReply): void {
    say(socket, reply);
    socket.end();
    // Whoever does not hang up now is hung up on.
    this.#after(socket, 1_000, () => this.#drop(socket));
    socket.resume();
  }

  #refuseLater(socket: Socket, delayMs: number): void {
    const answer = (): void => this.#refuse(socket, refusal('wrong_token', delayMs > 0 ? { retryAfterS: Math.ceil(delayMs / 1000) } : {}));
    if (delayMs === 0) answer();
    else this.#after(socket, delayMs, answer);
  }

  #after(socket: Socket, ms: number, then: () => void): void {
    const timer = setTimeout(then, ms);
    this.#strangers.set(socket, () => {
      clearTimeout(timer);
      socket.destroy();
    });
    socket.once('close', () => clearTimeout(timer));
  }

  #drop(socket: Socket): void {
    const drop = this.#strangers.get(socket);
    this.#strangers.delete(socket);
    if (drop === undefined) socket.destroy();
    else drop();
  }
}

function say(socket: Socket, reply: McpHandshakeReply): void {
  socket.write(`${JSON.stringify(reply)}\n`);
}

function inodeOf(file: string): bigint | undefined {
  return lstatSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

async function removeStaleSocket(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new AmbientError('conflict', 'mcp.sock exists and is not a socket.', `Move ${file} away.`);
  await unlink(file);
}
