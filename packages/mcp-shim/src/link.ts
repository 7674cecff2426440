import { connect, type Socket } from 'node:net';
import type { HomePaths } from '@ambient/contract/paths';
import type { Credential } from './credential.js';
import { CredentialError } from './credential-error.js';
import { type HandshakeReply, handshakeLine, readHandshakeReply } from './handshake.js';
import { LineSplitter } from './line-splitter.js';
import type { Problem } from './problem.js';
import { absence, BROKEN, NOT_YET, SILENT, socketProblem } from './reach.js';

const FIRST_PAUSE_MS = 50;
/** Longest pause between attempts while a request waits, and while none does. */
const LONGEST_PAUSE_MS = { waiting: 500, idle: 5000 } as const;
/** A daemon under a flood of wrong tokens takes its time; one that says nothing for longer hangs. */
const HANDSHAKE_MS = 40_000;
/** A connection that held this long was a good one: the next loss starts with short pauses again. */
const STEADY_MS = 1000;
/** After a refusal: by itself the shim asks again this slowly; a new request makes it ask at once, but not more often than this, ms. */
const REFUSED_PAUSE_MS = 60_000;
const REFUSED_GAP_MS = 250;
/** A token that is worthless stays so, and the daemon slows down for whoever keeps showing one: no new attempt for so long, ms. */
const WORTHLESS = new Set(['wrong_token', 'revoked', 'expired', 'bad_handshake', 'replay_failed']);
const WORTHLESS_MS = 3000;
/** Longest line a daemon may send, bytes. */
const MAX_DAEMON_LINE = 64 * 1024 * 1024;

export interface LinkEvents {
  /** The daemon has let the shim in. */
  up(): void;
  line(line: Buffer): void;
  /** A connection that was up is gone. */
  down(): void;
  /** The daemon answers, and says no. */
  refused(problem: Problem): void;
  /** An attempt failed; there will be another. */
  unreachable(problem: Problem): void;
  /** The daemon takes no more for the moment (true) or takes again (false). */
  pressure(full: boolean): void;
  /** True while someone waits for an answer. */
  isAwaited(): boolean;
}

/** One connection to mcp.sock, made again whenever it is lost. */
export class Link {
  readonly #paths: HomePaths;
  readonly #credential: Credential;
  readonly #events: LinkEvents;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isUp = false;
  #upSince = 0;
  #isTrying = false;
  #isStopped = false;
  #pause = FIRST_PAUSE_MS;
  #refusedAt: number | undefined;
  #notBefore = 0;
  #problem: Problem = NOT_YET;

  constructor(paths: HomePaths, credential: Credential, events: LinkEvents) {
    this.#paths = paths;
    this.#credential = credential;
    this.#events = events;
  }

  /** Why the link is down. */
  get problem(): Problem {
    return this.#problem;
  }

  start(): void {
    void this.#attempt();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#socket?.destroy();
  }

  /** Someone begins to wait. Returns the reason when waiting is pointless: the daemon said no a moment ago, for good. */
  want(): Problem | undefined {
    if (this.#refusedAt !== undefined && !this.#isTrying) {
      const age = performance.now() - this.#refusedAt;
      if (WORTHLESS.has(this.#problem.code) && age < WORTHLESS_MS) return this.#problem;
      if (age < REFUSED_GAP_MS) {
        this.#retry(REFUSED_GAP_MS - age);
        return undefined;
      }
    }
    if (!this.#isTrying && !this.#isUp && performance.now() >= this.#notBefore) {
      this.#pause = FIRST_PAUSE_MS;
      void this.#attempt();
    }
    return undefined;
  }

  /** `onLost` is called, before `down`, when not all of the bytes left this process: then the daemon cannot have acted on them. */
  write(bytes: Buffer | string, onLost?: () => void): void {
    const taken = this.#socket?.write(bytes, (error) => {
      if (error) onLost?.();
    });
    if (taken === false) this.#events.pressure(true);
  }

  /** No more will be written; answers still come. */
  halfClose(): void {
    this.#socket?.end();
  }

  /** Hangs up for a reason found by the caller, and tries again as slowly as after a refusal. */
  reject(problem: Problem): void {
    this.#hangUp();
    this.#refuse(problem, REFUSED_PAUSE_MS);
  }

  setPaused(paused: boolean): void {
    if (paused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  async #attempt(): Promise<void> {
    if (this.#isStopped || this.#isTrying || this.#isUp) return;
    this.#isTrying = true;
    clearTimeout(this.#timer);
    try {
      const token = await this.#credential.load();
      const problem = await socketProblem(this.#paths);
      if (this.#isStopped) return;
      if (problem === undefined) this.#connect(token);
      else this.#fail(problem);
    } catch (error) {
      if (error instanceof CredentialError) this.#refuse(error.problem, REFUSED_PAUSE_MS);
      else this.#fail({ ...SILENT, message: `Ambient cannot be reached: ${error instanceof Error ? error.message : 'unknown reason'}.` });
    }
  }

  #connect(token: string): void {
    const socket = connect({ path: this.#paths.mcpSocket, allowHalfOpen: true });
    this.#socket = socket;
    const splitter = new LineSplitter(MAX_DAEMON_LINE, {
      line: (line) => {
        if (this.#socket !== socket) return;
        if (this.#isUp) this.#events.line(line);
        else this.#greeted(readHandshakeReply(line.toString('utf8')));
      },
      piece: () => socket.destroy(),
    });
    let cause: Problem | undefined;
    const overdue = setTimeout(() => {
      cause = SILENT;
      socket.destroy();
    }, HANDSHAKE_MS);
    socket.on('connect', () => {
      this.#problem = SILENT;
      socket.write(handshakeLine(token));
    });
    socket.on('data', (chunk) => {
      splitter.push(chunk);
      if (this.#isUp) clearTimeout(overdue);
    });
    socket.on('drain', () => this.#events.pressure(false));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(overdue);
      if (this.#socket === socket) void this.#closed(cause);
    });
  }

  #greeted(reply: HandshakeReply): void {
    if (reply.kind === 'welcome') {
      this.#isTrying = false;
      this.#isUp = true;
      this.#upSince = performance.now();
      this.#refusedAt = undefined;
      this.#events.up();
      return;
    }
    this.#hangUp();
    if (reply.kind === 'later') this.#fail(reply.problem, reply.afterMs);
    else this.#refuse(reply.problem, REFUSED_PAUSE_MS);
  }

  async #closed(cause: Problem | undefined): Promise<void> {
    const wasUp = this.#isUp;
    this.#hangUp();
    if (this.#isStopped) return;
    if (wasUp) {
      if (performance.now() - this.#upSince > STEADY_MS) this.#pause = FIRST_PAUSE_MS;
      this.#problem = BROKEN;
      this.#events.down();
      this.#retry(this.#nextPause());
      return;
    }
    this.#isTrying = true;
    this.#fail(cause ?? (await absence(this.#paths)));
  }

  #hangUp(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isUp = false;
    this.#isTrying = false;
    socket?.destroy();
  }

  #fail(problem: Problem, afterMs?: number): void {
    this.#isTrying = false;
    this.#problem = problem;
    this.#refusedAt = undefined;
    this.#notBefore = afterMs === undefined ? 0 : performance.now() + afterMs;
    this.#events.unreachable(problem);
    this.#retry(afterMs ?? this.#nextPause());
  }

  #refuse(problem: Problem, afterMs: number): void {
    this.#isTrying = false;
    this.#problem = problem;
    this.#refusedAt = performance.now();
    this.#events.refused(problem);
    this.#retry(afterMs);
  }

  #nextPause(): number {
    const pause = Math.min(this.#pause, this.#events.isAwaited() ? LONGEST_PAUSE_MS.waiting : LONGEST_PAUSE_MS.idle);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS.idle);
    return pause;
  }

  #retry(afterMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#attempt(), afterMs);
  }
}
