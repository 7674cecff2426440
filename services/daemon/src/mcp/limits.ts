import type { AccessLevel } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';

/** What a call counts against. `act` holds everything that changes something. */
export type LimitClass = 'status' | 'live' | 'read' | 'act';

/** Calls a minute, and for reads also bytes a minute, of an `enabled` client. */
export const CALLS_PER_MINUTE: Readonly<Record<LimitClass, number>> = { status: 30, live: 30, read: 120, act: 60 };
export const READ_BYTES_PER_MINUTE = 5_000_000;
/** Longest reply whatever the client's limit is, bytes: a reply is sent twice over, and all of it waits in memory. */
export const MAX_REPLY_BYTES = 20_000_000;
/** A `trusted` client may do this many times as much. */
export const TRUSTED_FACTOR = 10;
const WINDOW_MS = 60_000;

/** Sums what happened in the last minute. Holds one entry a call, and calls are limited, so it stays small. */
class Window {
  readonly #entries: { at: number; amount: number }[] = [];
  #sum = 0;

  add(now: number, amount: number): void {
    this.#entries.push({ at: now, amount });
    this.#sum += amount;
  }

  /** What is left below `limit`. */
  room(now: number, limit: number): number {
    this.#forget(now);
    return Math.max(0, limit - this.#sum);
  }

  /** Seconds until there is room below `limit`; 0 when there is some now. */
  secondsUntilRoom(now: number, limit: number): number {
    this.#forget(now);
    if (this.#sum < limit) return 0;
    let sum = this.#sum;
    for (const entry of this.#entries) {
      sum -= entry.amount;
      if (sum < limit) return Math.max(1, Math.ceil((entry.at + WINDOW_MS - now) / 1000));
    }
    return WINDOW_MS / 1000;
  }

  #forget(now: number): void {
    while (this.#entries[0] !== undefined && this.#entries[0].at <= now - WINDOW_MS) this.#sum -= this.#entries.shift()?.amount ?? 0;
  }
}

interface Usage {
  readonly calls: Record<LimitClass, Window>;
  readonly bytes: Window;
}

/** Whom a limit is about. */
interface Limited {
  readonly id: string;
  readonly access: AccessLevel;
}

function factorOf({ access }: Limited): number {
  return access === 'trusted' ? TRUSTED_FACTOR : 1;
}

/** Counts what each client does. All connections of a client share one count. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #usage = new Map<string, Usage>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one call. @returns seconds to wait when the client is over its limit; the call then does not count */
  take(client: Limited, kind: LimitClass): number {
    const now = this.#clock.monotonicMs();
    const factor = factorOf(client);
    const usage = this.#of(client.id);
    const calls = usage.calls[kind];
    const wait = Math.max(
      calls.secondsUntilRoom(now, CALLS_PER_MINUTE[kind] * factor),
      kind === 'read' ? usage.bytes.secondsUntilRoom(now, READ_BYTES_PER_MINUTE * factor) : 0,
    );
    if (wait === 0) calls.add(now, 1);
    return wait;
  }

  /** Bytes that a reply to a read may have now. */
  room(client: Limited): number {
    const room = this.#of(client.id).bytes.room(this.#clock.monotonicMs(), READ_BYTES_PER_MINUTE * factorOf(client));
    return Math.min(room, MAX_REPLY_BYTES);
  }

  /** Takes the bytes of a reply that is about to be sent. @returns seconds to wait when it is too long; nothing is taken then */
  spend(client: Limited, bytes: number): number {
    const now = this.#clock.monotonicMs();
    const window = this.#of(client.id).bytes;
    if (bytes > this.room(client)) return Math.max(1, window.secondsUntilRoom(now, READ_BYTES_PER_MINUTE * factorOf(client) - bytes + 1));
    window.add(now, bytes);
    return 0;
  }

  forget(clientId: string): void {
    this.#usage.delete(clientId);
  }

  #of(id: string): Usage {
    let usage = this.#usage.get(id);
    if (usage === undefined) {
      usage = { calls: { status: new Window(), live: new Window(), read: new Window(), act: new Window() }, bytes: new Window() };
      this.#usage.set(id, usage);
    }
    return usage;
  }
}
