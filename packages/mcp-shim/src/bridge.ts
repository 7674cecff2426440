import type { Readable } from 'node:stream';
import { LineSplitter } from './line-splitter.js';
import type { Link, LinkEvents } from './link.js';
import { idKey, isId, isObject, type Message, readMessage } from './message.js';
import { OUTCOME_UNKNOWN, replayProblem } from './outage.js';
import type { Output } from './output.js';
import { OversizedLine } from './oversized.js';
import { errorLine, mistakeLine, type Problem, RPC } from './problem.js';
import { BROKEN } from './reach.js';
import { Replay } from './replay.js';
import { type Pending, pendingOf, Requests } from './requests.js';
import type { Service } from './service.js';

/** Longest line of a host, bytes; the daemon takes no longer one. */
export const MAX_HOST_LINE = 1024 * 1024;
/** More than this waiting for answers, and the host is asked to slow down, bytes. */
const MAX_HELD = 8 * MAX_HOST_LINE;
/** A read that breaks the connection each time is not sent for ever. */
const MAX_ATTEMPTS = 3;
/** A subscription that ends just before its connection does was ended by the daemon's shutdown, ms. */
const LISTEN_END_MS = 2000;
/** After the host's last word, the answers still owed have this long, ms. */
const DRAIN_MS = 15_000;
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const NEWLINE = Buffer.of(0x0a);

export interface BridgeParts {
  readonly link: (events: LinkEvents) => Link;
  readonly output: (onPressure: (full: boolean) => void) => Output;
  readonly input: Readable;
  readonly service: Service;
  /** How long a request waits for a connection, ms. */
  readonly waitMs: number;
  readonly log: (message: string) => void;
  /** The host is done and everything owed to it has been written. */
  readonly onDone: () => void;
}

type Phase = 'down' | 'replaying' | 'up';
type Pressure = 'output' | 'link' | 'backlog';

/** Carries a host's session over any number of connections to the daemon. */
export class Bridge {
  readonly #parts: BridgeParts;
  readonly #link: Link;
  readonly #output: Output;
  readonly #host: LineSplitter;
  readonly #requests = new Requests();
  readonly #replay = new Replay();
  /** Requests of the shim itself, by id; their answers are not the host's business. */
  readonly #own = new Map<string, (message: Message & { kind: 'response' }) => void>();
  /** Requests of this connection's daemon to the host. */
  readonly #asked = new Set<string>();
  readonly #pressures = new Set<Pressure>();
  #phase: Phase = 'down';
  #ownCount = 0;
  #deadline: NodeJS.Timeout | undefined;
  #drain: NodeJS.Timeout | undefined;
  #hostEnded = false;
  #isDone = false;
  #oversized: OversizedLine | undefined;
  #lastLogged = '';

  constructor(parts: BridgeParts) {
    this.#parts = parts;
    this.#output = parts.output((full) => this.#press('output', full));
    this.#link = parts.link({
      up: () => this.#onUp(),
      line: (line) => this.#onDaemonLine(line),
      down: () => this.#onDown(),
      refused: (problem) => this.#onRefused(problem),
      unreachable: (problem) => this.#onUnreachable(problem),
      pressure: (full) => this.#press('link', full),
      isAwaited: () => this.#requests.isAwaited,
    });
    this.#host = new LineSplitter(MAX_HOST_LINE, {
      line: (line) => this.#onHostLine(line),
      piece: (piece, last) => this.#onHostPiece(piece, last),
    });
  }

  start(): void {
    const { input } = this.#parts;
    input.on('data', (chunk: Buffer) => this.#host.push(chunk));
    input.on('end', () => this.#onHostEnd());
    input.on('error', () => this.#onHostEnd());
    this.#link.start();
  }

  stop(): void {
    this.#isDone = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#drain);
    this.#requests.clear();
    this.#link.stop();
  }

  #onHostLine(line: Buffer): void {
    const text = line.toString('utf8');
    if (text.trim() === '') return;
    const message = readMessage(text);
    switch (message.kind) {
      case 'invalid':
        if (this.#phase === 'up') this.#send(line);
        else this.#output.line(mistakeLine(message.id, message.code, message.message));
        return;
      case 'response':
        // An answer to a daemon that is gone would only confuse the next one.
        if (this.#phase === 'up' && this.#asked.delete(idKey(message.id))) this.#send(line);
        return;
      case 'notification':
        this.#onHostNotification(message, line);
        return;
      case 'request':
        this.#onHostRequest(message, line);
    }
  }

  #onHostRequest(message: Message & { kind: 'request' }, line: Buffer): void {
    const entry = pendingOf(message, line, performance.now());
    if (this.#phase === 'up') {
      this.#sendRequest(entry);
      return;
    }
    const refusal = this.#phase === 'down' ? this.#link.want() : undefined;
    if (refusal !== undefined) {
      this.#output.line(errorLine(entry.id, RPC.refused, refusal));
      return;
    }
    this.#requests.wait(entry);
    this.#watchBacklog();
    this.#armDeadline();
  }

  #onHostNotification(message: Message & { kind: 'notification' }, line: Buffer): void {
    if (message.method === 'notifications/cancelled') {
      const { requestId } = message.params;
      const key = isId(requestId) ? idKey(requestId) : '';
      if (this.#requests.withdraw(key)) return;
      this.#requests.settle(key);
      this.#watchBacklog();
    }
    if (message.method === 'notifications/initialized') {
      const isFirst = this.#replay.handshake('') === undefined;
      this.#replay.initialized();
      if (this.#phase !== 'up' && isFirst) {
        this.#requests.waitNotification(line);
        return;
      }
    }
    if (this.#phase === 'up') this.#send(line);
  }

  #onHostPiece(piece: Buffer, last: boolean): void {
    this.#oversized ??= new OversizedLine();
    this.#oversized.push(piece);
    if (!last) return;
    this.#output.line(
      mistakeLine(this.#oversized.id, RPC.invalidRequest, `Invalid request: the line is longer than ${MAX_HOST_LINE} bytes.`),
    );
    this.#oversized = undefined;
  }

  #onHostEnd(): void {
    if (this.#hostEnded) return;
    this.#hostEnded = true;
    this.#host.end();
    if (this.#phase === 'up') this.#beginDrain();
    this.#finishIfDone();
  }

  #onUp(): void {
    this.#lastLogged = '';
    this.#link.setPaused(this.#pressures.has('output'));
    const handshake = this.#replay.handshake(this.#nextId());
    if (handshake === undefined) {
      this.#flush();
      return;
    }
    this.#phase = 'replaying';
    this.#ask(handshake, (reply) => {
      if (reply.failed) {
        this.#link.reject(replayProblem(reply.body));
        return;
      }
      const { result } = reply.body;
      if (isObject(result) && result.protocolVersion !== this.#replay.protocolVersion)
        this.#parts.log(`the restarted daemon speaks protocol ${String(result.protocolVersion)}`);
      if (this.#replay.isInitialized) this.#link.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      for (const uri of this.#replay.subscriptions) this.#resubscribe(uri);
      this.#flush();
    });
  }

  #resubscribe(uri: string): void {
    const id = this.#nextId();
    this.#ask(JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } }), (reply) => {
      // Whatever changed during the outage was announced to nobody.
      if (!reply.failed) this.#output.line(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }));
    });
  }

  #flush(): void {
    this.#phase = 'up';
    clearTimeout(this.#deadline);
    for (const entry of this.#requests.takeWaiting()) {
      if ('key' in entry) this.#sendRequest(entry);
      else this.#send(entry.notification);
    }
    if (this.#hostEnded) this.#beginDrain();
  }

  #onDown(): void {
    const wasReady = this.#phase === 'up';
    this.#phase = 'down';
    this.#own.clear();
    this.#asked.clear();
    this.#press('link', false);
    const lost = this.#requests.lose(
      performance.now(),
      (entry) => entry.isAcknowledged || ((entry.repeatable || entry.isUndelivered) && entry.attempts < MAX_ATTEMPTS),
    );
    for (const { id, repeatable, isUndelivered } of lost)
      this.#output.line(
        repeatable || isUndelivered ? errorLine(id, RPC.unavailable, BROKEN) : errorLine(id, RPC.outcomeUnknown, OUTCOME_UNKNOWN),
      );
    if (wasReady && !this.#hostEnded) this.#parts.log('the connection to the daemon is gone; connecting again');
    this.#watchBacklog();
    this.#armDeadline();
    this.#finishIfDone();
  }

  #onRefused(problem: Problem): void {
    this.#phase = 'down';
    this.#own.clear();
    this.#logOnce(problem);
    for (const { id } of this.#requests.takeOverdue(Number.POSITIVE_INFINITY)) this.#output.line(errorLine(id, RPC.refused, problem));
    this.#watchBacklog();
    this.#finishIfDone();
  }

  #onUnreachable(problem: Problem): void {
    this.#logOnce(problem);
    if (problem.code === 'not_running' && this.#requests.isAwaited) void this.#parts.service.ask();
  }

  #onDaemonLine(line: Buffer): void {
    const message = readMessage(line.toString('utf8'));
    switch (message.kind) {
      case 'invalid':
        // An error without an id is the answer to a line that had none; what is no JSON at all never reaches the host.
        if (message.code === RPC.parseError) this.#parts.log('the daemon sent a line that is not JSON; dropped');
        else this.#output.line(line);
        return;
      case 'request':
        this.#asked.add(idKey(message.id));
        break;
      case 'notification':
        if (message.method === 'notifications/subscriptions/acknowledged' && this.#isRepeatedAcknowledgement(message.params)) return;
        break;
      case 'response':
        if (!this.#onResponse(message, line)) return;
    }
    this.#output.line(line);
  }

  /** True when the answer is for the host, now. */
  #onResponse(message: Message & { kind: 'response' }, line: Buffer): boolean {
    const key = idKey(message.id);
    const own = this.#own.get(key);
    if (own !== undefined) {
      this.#own.delete(key);
      own(message);
      return false;
    }
    const entry = this.#requests.sent(key);
    if (entry === undefined) return true;
    if (entry.isAcknowledged && !message.failed && !this.#hostEnded) {
      entry.ending ??= setTimeout(() => {
        this.#requests.settle(key);
        this.#output.line(line);
      }, LISTEN_END_MS);
      return false;
    }
    this.#requests.settle(key);
    this.#watchBacklog();
    if (!message.failed) this.#replay.answered(entry.method, entry.line.toString('utf8'), message.body.result);
    return true;
  }

  #isRepeatedAcknowledgement(params: Readonly<Record<string, unknown>>): boolean {
    const id = isObject(params._meta) ? params._meta[SUBSCRIPTION_ID] : undefined;
    const entry = isId(id) ? this.#requests.sent(idKey(id)) : undefined;
    if (entry === undefined) return false;
    const isRepeated = entry.isAcknowledged;
    entry.isAcknowledged = true;
    return isRepeated;
  }

  #armDeadline(): void {
    clearTimeout(this.#deadline);
    const oldest = this.#requests.oldest();
    if (oldest === undefined || this.#phase === 'up' || this.#isDone) return;
    const inMs = Math.max(0, oldest + this.#parts.waitMs - performance.now());
    this.#deadline = setTimeout(() => this.#onDeadline(), inMs);
  }

  #onDeadline(): void {
    // Timers may fire a fraction of a millisecond early.
    for (const { id } of this.#requests.takeOverdue(performance.now() - this.#parts.waitMs + 1))
      this.#output.line(errorLine(id, RPC.unavailable, this.#link.problem));
    this.#watchBacklog();
    this.#armDeadline();
    this.#finishIfDone();
  }

  #sendRequest(entry: Pending): void {
    this.#requests.markSent(entry);
    this.#watchBacklog();
    this.#link.write(Buffer.concat([entry.line, NEWLINE]), () => {
      entry.isUndelivered = true;
    });
  }

  #ask(line: string, onReply: (reply: Message & { kind: 'response' }) => void): void {
    const message = readMessage(line);
    if (message.kind === 'request') this.#own.set(idKey(message.id), onReply);
    this.#link.write(`${line}\n`);
  }

  #send(line: Buffer): void {
    this.#link.write(Buffer.concat([line, NEWLINE]));
  }

  #nextId(): string {
    return `ambient-mcp/${process.pid}/${++this.#ownCount}`;
  }

  #beginDrain(): void {
    this.#link.halfClose();
    this.#drain ??= setTimeout(() => this.#done(), DRAIN_MS);
  }

  #finishIfDone(): void {
    if (this.#hostEnded && this.#phase === 'down' && !this.#requests.isAwaited) this.#done();
  }

  #done(): void {
    if (this.#isDone) return;
    this.stop();
    void this.#output.flushed().then(this.#parts.onDone);
  }

  #watchBacklog(): void {
    this.#press('backlog', this.#requests.bytes > MAX_HELD);
  }

  #press(pressure: Pressure, on: boolean): void {
    if (on === this.#pressures.has(pressure)) return;
    if (on) this.#pressures.add(pressure);
    else this.#pressures.delete(pressure);
    if (pressure === 'output') this.#link.setPaused(on);
    if (this.#pressures.size > 0) this.#parts.input.pause();
    else if (!this.#hostEnded) this.#parts.input.resume();
  }

  #logOnce(problem: Problem): void {
    if (problem.code === this.#lastLogged) return;
    this.#lastLogged = problem.code;
    this.#parts.log(`${problem.message} ${problem.hint}`);
  }
}
