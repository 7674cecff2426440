import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { BUSY, INVALID_REQUEST, parseMessage, type RpcError, readableError, rpcError } from './json-rpc.js';
import { type LineEvent, LineSplitter } from './lines.js';

/** Longest message a client may send, bytes. */
export const MAX_LINE_BYTES = 1024 * 1024;
/** Requests of one connection that may be in flight at once. */
export const MAX_PENDING = 64;
/** After the client's end of input, answers still owed are waited for this long, ms. */
const DRAIN_MS = 5_000;
/** A closed connection's last bytes get this long to leave, ms. */
const FLUSH_MS = 2_000;
/** Above this many unread bytes nothing more is read from the client. */
const READ_BACKLOG = 4 * 1024 * 1024;
/** Above this many unread bytes a notification is dropped: it only says that something may be read again. */
const NOTIFY_BACKLOG = 1024 * 1024;
/** A client this many bytes behind is cut off. */
const MAX_BACKLOG = 64 * 1024 * 1024;

/**
 * Newline-delimited JSON-RPC over a connected socket. Rubbish is answered and the loop goes on; at the client's end of
 * input the last line is still read, `ended` fires so that long polls return, and what is owed is sent before closing.
 */
export class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #socket: Socket;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  readonly #pending = new Set<RequestId>();
  readonly #ended = new AbortController();
  #early: Buffer;
  #started = false;
  #closed = false;
  #drain: NodeJS.Timeout | undefined;

  /** @param early bytes that came after the handshake line */
  constructor(socket: Socket, early: Buffer) {
    this.#socket = socket;
    this.#early = early;
    // Every request in flight may listen; more of them than that is not a leak.
    setMaxListeners(2 * MAX_PENDING, this.#ended.signal);
  }

  /** Aborted when the client has closed its end or the connection is gone: nobody will wait any longer. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Requests that are not answered yet. */
  get pending(): number {
    return this.#pending.size;
  }

  async start(): Promise<void> {
    if (this.#started) throw new Error('The transport was started already.');
    this.#started = true;
    this.#socket.on('data', this.#onData);
    this.#socket.on('end', this.#onEnd);
    this.#socket.on('close', this.#onClose);
    this.#socket.on('error', this.#onError);
    this.#socket.on('drain', this.#onDrain);
    const early = this.#early;
    this.#early = Buffer.alloc(0);
    if (early.length > 0) this.#onData(early);
    if (this.#socket.readableEnded) this.#onEnd();
    else if (!this.#closed) this.#socket.resume();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error('The connection is closed.');
    const isError = isJSONRPCErrorResponse(message);
    if (isJSONRPCNotification(message) && this.#socket.writableLength > NOTIFY_BACKLOG) return;
    this.#write(isError ? readableError(message) : message);
    if ((isError || isJSONRPCResultResponse(message)) && message.id !== undefined) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#shut();
    const timer = setTimeout(() => this.#socket.destroy(), FLUSH_MS);
    this.#socket.once('close', () => clearTimeout(timer));
    this.#socket.end();
  }

  /** Ends the connection without sending what is still buffered. */
  destroy(): void {
    this.#shut();
    this.#socket.destroy();
  }

  #shut(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#drain);
    this.#socket.off('data', this.#onData);
    this.#socket.off('end', this.#onEnd);
    this.#socket.off('drain', this.#onDrain);
    // What the client still sends is read and dropped, so that its end of input is noticed.
    this.#socket.resume();
    this.#pending.clear();
    this.#ended.abort();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const event of this.#splitter.push(chunk)) {
      if (this.#closed) return;
      this.#take(event);
    }
  };

  readonly #onEnd = (): void => {
    const last = this.#splitter.flush();
    if (last !== undefined) this.#take(last);
    // Requests taken just now reach their handlers in the microtasks after this; they must find the signal set.
    this.#ended.abort();
    if (this.#closed) return;
    this.#drain = setTimeout(() => void this.close(), DRAIN_MS);
    setImmediate(() => this.#closeWhenDrained());
  };

  readonly #onClose = (): void => this.#shut();

  readonly #onError = (error: Error): void => {
    this.onerror?.(error);
    this.destroy();
  };

  readonly #onDrain = (): void => {
    this.#socket.resume();
  };

  #take(event: LineEvent): void {
    if (event.kind === 'oversized') {
      this.#write(rpcError(null, INVALID_REQUEST, `Invalid request: the line is longer than ${MAX_LINE_BYTES} bytes.`));
      return;
    }
    const line = event.bytes.toString('utf8').trim();
    if (line === '') return;
    const parsed = parseMessage(line);
    if ('error' in parsed) {
      this.#write(parsed.error);
      return;
    }
    const { message } = parsed;
    if (isJSONRPCRequest(message)) {
      const problem = this.#pending.has(message.id)
        ? rpcError(message.id, INVALID_REQUEST, 'Invalid request: a request with this id is still in flight.')
        : this.#pending.size >= MAX_PENDING
          ? rpcError(message.id, BUSY, `Too many requests at once: at most ${MAX_PENDING} may be in flight.`)
          : undefined;
      if (problem !== undefined) {
        this.#write(problem);
        return;
      }
      // A subscription is never answered, only ended.
      if (message.method !== 'subscriptions/listen') this.#pending.add(message.id);
    } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      // The server layer answers no cancelled request.
      const id = (message.params as { requestId?: RequestId } | undefined)?.requestId;
      if (id !== undefined) this.#settle(id);
    }
    this.onmessage?.(message);
  }

  #settle(id: RequestId): void {
    this.#pending.delete(id);
    this.#closeWhenDrained();
  }

  #closeWhenDrained(): void {
    if (this.#drain !== undefined && this.#pending.size === 0 && !this.#closed) void this.close();
  }

  #write(message: JSONRPCMessage | RpcError): void {
    if (this.#closed) return;
    this.#socket.write(`${JSON.stringify(message)}\n`);
    const backlog = this.#socket.writableLength;
    if (backlog > MAX_BACKLOG) {
      this.onerror?.(new Error('The client does not read its answers.'));
      this.destroy();
    } else if (backlog > READ_BACKLOG) this.#socket.pause();
  }
}
