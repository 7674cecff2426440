import { AmbientError } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { ClientView } from './client-view.js';
import type { LimitClass } from './limits.js';

/** A client that goes on asking over its limit is written down this often, ms. */
const LIMITED_MS = 60_000;

/** What of a tool is written down, and whether. */
interface CalledTool {
  readonly name: string;
  readonly kind: LimitClass | 'destroy';
}

/**
 * Who asked for what and what came of it, in the daemon's log: `audit.jsonl` may hold an operation's id, tool, outcome and
 * time alone. Never what was asked for in words.
 */
export class CallLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #limitedAt = new Map<string, number>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  done(client: ClientView, tool: CalledTool, args: unknown): void {
    if (changes(tool)) this.#logger.info({ ...who(client, tool, args), outcome: 'succeeded' }, 'mcp: call');
  }

  /** Denied by the user, withdrawn because the caller has gone, or failed. */
  failed(client: ClientView, tool: CalledTool, args: unknown, error: unknown, gone: boolean): void {
    if (!changes(tool)) return;
    const code = error instanceof AmbientError ? error.code : 'internal';
    const outcome = tool.kind === 'destroy' && code === 'forbidden' ? (gone ? 'cancelled' : 'denied') : 'failed';
    this.#logger.info({ ...who(client, tool, args), outcome, code }, 'mcp: call');
  }

  limited(client: ClientView, tool: CalledTool): void {
    const now = this.#clock.monotonicMs();
    if (now - (this.#limitedAt.get(client.id) ?? Number.NEGATIVE_INFINITY) < LIMITED_MS) return;
    this.#limitedAt.set(client.id, now);
    this.#logger.info({ client: client.id, tool: tool.name, outcome: 'rate_limited' }, 'mcp: call');
  }
}

function changes({ kind }: CalledTool): boolean {
  return kind === 'act' || kind === 'destroy';
}

function who(client: ClientView, tool: CalledTool, args: unknown): { client: string; tool: string; session?: string } {
  const session = typeof args === 'object' && args !== null && 'sessionId' in args ? args.sessionId : undefined;
  // Whatever is no plain name could be anything, and is not written down.
  const isPlain = typeof session === 'string' && /^[\w.:-]{1,64}$/.test(session);
  return { client: client.id, tool: tool.name, ...(isPlain ? { session } : {}) };
}
