import { idKey, type Message } from './message.js';
import type { RequestId } from './problem.js';
import { isRepeatable } from './repeatable.js';

/** A request of the host that has no answer yet. */
export interface Pending {
  readonly id: RequestId;
  readonly key: string;
  readonly method: string;
  readonly repeatable: boolean;
  readonly line: Buffer;
  /** `subscriptions/listen`: stays open, is answered only when it ends. */
  readonly isListen: boolean;
  /** A listen that the daemon has acknowledged: from then on it is kept open over any outage. */
  isAcknowledged: boolean;
  /** Times it has been sent. */
  attempts: number;
  /** The connection broke before all of it had left this process. */
  isUndelivered: boolean;
  /** Since when it waits for a connection, on the monotonic clock, ms. */
  since: number;
  /** Set while the end of a listen is held back. */
  ending: NodeJS.Timeout | undefined;
}

/** A request as it came from the host at `since`. */
export function pendingOf(message: Message & { kind: 'request' }, line: Buffer, since: number): Pending {
  const { id, method, params } = message;
  return {
    id,
    key: idKey(id),
    method,
    repeatable: isRepeatable(method, params),
    line,
    isListen: method === 'subscriptions/listen',
    isAcknowledged: false,
    attempts: 0,
    isUndelivered: false,
    since,
    ending: undefined,
  };
}

/** A notification that must keep its place among the requests. */
interface Held {
  readonly notification: Buffer;
}

/** What waits for a connection, in the host's order, and what is in flight. */
export class Requests {
  #waiting: (Pending | Held)[] = [];
  readonly #sent = new Map<string, Pending>();
  #bytes = 0;

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True while an answer is owed that an outage delays; a quiet subscription is not. */
  get isAwaited(): boolean {
    for (const entry of this.#waiting) if ('key' in entry && !entry.isAcknowledged) return true;
    for (const entry of this.#sent.values()) if (!entry.isListen) return true;
    return false;
  }

  sent(key: string): Pending | undefined {
    return this.#sent.get(key);
  }

  wait(entry: Pending): void {
    this.#waiting.push(entry);
    this.#bytes += entry.line.length;
  }

  waitNotification(line: Buffer): void {
    this.#waiting.push({ notification: line });
    this.#bytes += line.length;
  }

  markSent(entry: Pending): void {
    entry.attempts++;
    entry.isUndelivered = false;
    this.#sent.set(entry.key, entry);
    this.#bytes += entry.line.length;
  }

  /** Forgets a request in flight. */
  settle(key: string): Pending | undefined {
    const entry = this.#sent.get(key);
    if (entry === undefined) return undefined;
    clearTimeout(entry.ending);
    this.#sent.delete(key);
    this.#bytes -= entry.line.length;
    return entry;
  }

  /** Forgets a request that was never sent. True when there was one. */
  withdraw(key: string): boolean {
    const at = this.#waiting.findIndex((entry) => 'key' in entry && entry.key === key);
    if (at === -1) return false;
    this.#bytes -= lineOf(this.#waiting.splice(at, 1)[0]).length;
    return true;
  }

  /** Takes everything that waits, in order. */
  takeWaiting(): (Pending | Held)[] {
    const all = this.#waiting;
    this.#waiting = [];
    for (const entry of all) this.#bytes -= lineOf(entry).length;
    return all;
  }

  /** Takes the requests that have waited since `before` or longer, and those of an earlier moment. Acknowledged listens stay. */
  takeOverdue(before: number): Pending[] {
    const overdue: Pending[] = [];
    const rest: (Pending | Held)[] = [];
    for (const entry of this.#waiting) {
      if ('key' in entry && !entry.isAcknowledged && entry.since <= before) overdue.push(entry);
      else rest.push(entry);
    }
    this.#waiting = rest;
    for (const entry of overdue) this.#bytes -= entry.line.length;
    return overdue;
  }

  /** When the longest-waiting request began to wait, or undefined. */
  oldest(): number | undefined {
    let oldest: number | undefined;
    for (const entry of this.#waiting)
      if ('key' in entry && !entry.isAcknowledged && (oldest === undefined || entry.since < oldest)) oldest = entry.since;
    return oldest;
  }

  /** The connection is gone: those in flight for which `keep` says yes wait again, before the others; the rest is returned. */
  lose(now: number, keep: (entry: Pending) => boolean): Pending[] {
    const kept: Pending[] = [];
    const lost: Pending[] = [];
    for (const entry of this.#sent.values()) {
      clearTimeout(entry.ending);
      entry.ending = undefined;
      if (keep(entry)) {
        entry.since = now;
        kept.push(entry);
      } else {
        this.#bytes -= entry.line.length;
        lost.push(entry);
      }
    }
    this.#sent.clear();
    this.#waiting = [...kept, ...this.#waiting];
    return lost;
  }

  clear(): void {
    for (const entry of this.#sent.values()) clearTimeout(entry.ending);
    this.#sent.clear();
    this.#waiting = [];
    this.#bytes = 0;
  }
}

function lineOf(entry: Pending | Held | undefined): Buffer {
  if (entry === undefined) return Buffer.alloc(0);
  return 'key' in entry ? entry.line : entry.notification;
}
