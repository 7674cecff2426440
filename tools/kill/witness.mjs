/** Remembers everything that a daemon published, so that it can be held against what stands in the end. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 90;
const RETRY_MS = 30;

export class Witness {
  #client;
  #stop = new AbortController();
  #work = [];
  #polled = new Set();
  #onLine = new Set();
  /** Lines by session and index from 0. */
  lines = new Map();
  /** Every `{ session, since, next }` that a reading was answered with. */
  readings = [];
  /** Lines that came twice with other words, or out of order. */
  contradictions = [];
  warnings = [];

  constructor(client) {
    this.#client = client;
  }

  start() {
    this.#work.push(this.#listen());
  }

  async stop() {
    this.#stop.abort();
    await Promise.all(this.#work);
  }

  /** Reads the session's transcript by cursor from here on, beside the events. */
  follow(session) {
    if (this.#polled.has(session)) return;
    this.#polled.add(session);
    this.#work.push(this.#poll(session));
  }

  /** Resolves at the next line that is published, or after `ms`. */
  nextLine(ms) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#onLine.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#onLine.add(done);
    });
  }

  async #listen() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const heard = new Map();
      try {
        for await (const event of this.#client.events({ signal })) {
          if (event.type === 'warning') this.warnings.push(event);
          if (event.type !== 'line') continue;
          const { session, index, line } = event;
          const last = heard.get(session);
          if (last !== undefined && index !== last + 1) this.contradictions.push(`events of ${session} jump from line ${last} to ${index}`);
          heard.set(session, index);
          this.#note(session, index, line);
          for (const done of [...this.#onLine]) done();
        }
      } catch {
        // No daemon answers now; the next one will.
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #poll(session) {
    const { signal } = this.#stop;
    let since = 0;
    while (!signal.aborted) {
      try {
        const { lines, next } = await this.#client.call('transcript', { params: { session }, query: { since } });
        if (next !== since + lines.length)
          this.contradictions.push(`since ${since} gave ${lines.length} lines of ${session} and next ${next}`);
        for (const [i, line] of lines.entries()) this.#note(session, since + i, line);
        this.readings.push({ session, since, next });
        since = next;
      } catch {
        // Between two daemons.
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  #note(session, index, line) {
    const known = this.lines.get(session) ?? new Map();
    this.lines.set(session, known);
    const text = JSON.stringify(line);
    const before = known.get(index);
    if (before === undefined) known.set(index, text);
    else if (before !== text) this.contradictions.push(`line ${index} of ${session} was ${before} and is ${text}`);
  }
}
