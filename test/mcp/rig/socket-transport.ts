import { connect, type Socket } from 'node:net';
import type { McpHandshakeReply } from '@ambient/contract';

interface Message {
  readonly [key: string]: unknown;
}

/** A client's end of mcp.sock without a shim: sends the handshake, then newline-delimited JSON-RPC. */
export class SocketClientTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: never) => void;
  readonly #path: string;
  readonly #token: string;
  #socket: Socket | undefined;

  constructor(path: string, token: string) {
    this.#path = path;
    this.#token = token;
  }

  async start(): Promise<void> {
    const { socket, reply, rest } = await openRaw(this.#path, this.#token);
    if (!reply.ok) throw new Error(`${reply.code}: ${reply.message}`);
    this.#socket = socket;
    let buffered = '';
    const take = (text: string): void => {
      buffered += text;
      for (let at = buffered.indexOf('\n'); at !== -1; at = buffered.indexOf('\n')) {
        const line = buffered.slice(0, at);
        buffered = buffered.slice(at + 1);
        this.onmessage?.(JSON.parse(line) as never);
      }
    };
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => take(String(chunk)));
    socket.on('close', () => this.onclose?.());
    socket.on('error', (error) => this.onerror?.(error));
    take(rest);
    socket.resume();
  }

  async send(message: Message): Promise<void> {
    if (this.#socket === undefined || this.#socket.destroyed) throw new Error('not connected');
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#socket?.destroy();
  }
}

/** Connects, sends `first` (a token's handshake, or any line) and reads the daemon's one-line reply. */
export async function openRaw(path: string, first: string): Promise<{ socket: Socket; reply: McpHandshakeReply; rest: string }> {
  const socket = connect({ path, allowHalfOpen: true });
  const line = first.startsWith('{') ? first : JSON.stringify({ ambient: 1, token: first, shim: { version: 'test', pid: process.pid } });
  socket.write(`${line}\n`);
  return new Promise((resolve, reject) => {
    let seen = '';
    const onData = (chunk: Buffer): void => {
      seen += chunk.toString('utf8');
      const at = seen.indexOf('\n');
      if (at === -1) return;
      socket.pause();
      socket.off('data', onData);
      resolve({ socket, reply: JSON.parse(seen.slice(0, at)) as McpHandshakeReply, rest: seen.slice(at + 1) });
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without a reply')));
  });
}

/** Lines that a raw connection receives, one at a time. */
export class RawLines {
  readonly #socket: Socket;
  readonly #lines: string[] = [];
  #wake: (() => void) | undefined;
  #buffered: string;
  ended = false;

  constructor(socket: Socket, rest: string) {
    this.#socket = socket;
    this.#buffered = rest;
    socket.on('data', (chunk) => this.#take(String(chunk)));
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    socket.on('error', () => this.#end());
    this.#take('');
    socket.resume();
  }

  static async open(path: string, token: string): Promise<RawLines> {
    const { socket, reply, rest } = await openRaw(path, token);
    if (!reply.ok) throw new Error(reply.code);
    return new RawLines(socket, rest);
  }

  send(message: unknown): void {
    this.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  /** Ends the sending side; what is owed still comes. */
  end(text = ''): void {
    this.#socket.end(text);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The next message, or undefined once the other side has ended. */
  async next(): Promise<Record<string, unknown> | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return JSON.parse(line) as Record<string, unknown>;
      if (this.ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends a request and returns the answer to it. Other messages are skipped. */
  async ask(id: number | string, method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    this.send({ jsonrpc: '2.0', id, method, params });
    for (;;) {
      const message = await this.next();
      if (message === undefined) throw new Error('the connection ended');
      if (message.id === id) return message;
    }
  }

  #take(text: string): void {
    this.#buffered += text;
    const lines = this.#buffered.split('\n');
    this.#buffered = lines.pop() ?? '';
    this.#lines.push(...lines.filter((line) => line !== ''));
    this.#wake?.();
  }

  #end(): void {
    this.ended = true;
    this.#wake?.();
  }
}
