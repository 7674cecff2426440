import type { AccessLevel } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';

/** What a call counts against. `act` holds everything that changes something. */
export type LimitClass = 'status' | 'live' | 'read' | 'act';

/** Calls a minute, and for reads also bytes a minute, of an `enabled` client. */
export const CALLS_PER_MINUTE: Readonly<Record<LimitClass, number>> = { status: 30, live: 30, read: 120, act: 60 };
export const READ_BYTES_PER_MINUTE = 5_000_000;
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

  /** Seconds until there is room below `limit`; 0 when there is some now. */
  secondsUntilRoom(now: number, limit: number): number {
    while (this.#entries[0] !== undefined && this.#entries[0].at <= now - WINDOW_MS) this.#sum -= this.#entries.shift()?.amount ?? 0;
    if (this.#sum < limit) return 0;
    let sum = this.#sum;
    for (const entry of this.#entries) {
      sum -= entry.amount;
      if (sum < limit) return Math.max(1, Math.ceil((entry.at + WINDOW_MS - now) / 1000));
    }
    return WINDOW_MS / 1000;
  }
}

interface Usage {
  readonly calls: Record<LimitClass, Window>;
  readonly bytes: Window;
}

/** Counts what each client does. All connections of a client share one count. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #usage = new Map<string, Usage>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one call. @returns seconds to wait when the client is over its limit; the call then does not count */
  take(client: { readonly id: string; readonly access: AccessLevel }, kind: LimitClass): number {
    const now = this.#clock.monotonicMs();
    const factor = client.access === 'trusted' ? TRUSTED_FACTOR : 1;
    const usage = this.#of(client.id);
    const calls = usage.calls[kind];
    const wait = Math.max(
      calls.secondsUntilRoom(now, CALLS_PER_MINUTE[kind] * factor),
      kind === 'read' ? usage.bytes.secondsUntilRoom(now, READ_BYTES_PER_MINUTE * factor) : 0,
    );
    if (wait === 0) calls.add(now, 1);
    return wait;
  }

  /** Adds what a read returned, bytes. A read that goes over is still answered; the next one waits. */
  spend(clientId: string, bytes: number): void {
    this.#of(clientId).bytes.add(this.#clock.monotonicMs(), bytes);
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
