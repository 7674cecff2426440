import type { DaemonEvent, DaemonStatus } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';

type Matches = (event: DaemonEvent) => boolean;

/** The daemon's events as the MCP server needs them: one listener on the bus, however many calls wait. */
export class Changes {
  readonly #bus: Bus;
  readonly #watches = new Set<Watch>();
  readonly #listeners = new Set<(event: DaemonEvent) => void>();
  #recognizer: DaemonStatus['recognizer']['state'] = 'unloaded';

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  start(): void {
    this.#bus.on(this, (event) => {
      // Levels come four times a second and change nothing that anyone here waits for.
      if (event.type === 'levels') return;
      if (event.type === 'status') this.#recognizer = event.status.recognizer.state;
      for (const watch of this.#watches) watch.offer(event);
      for (const listener of this.#listeners) listener(event);
    });
  }

  stop(): void {
    this.#bus.off(this);
    for (const watch of this.#watches) watch.wake();
  }

  /** As of the last status event. */
  get recognizerState(): DaemonStatus['recognizer']['state'] {
    return this.#recognizer;
  }

  /** Calls that wait now. */
  get waiting(): number {
    return this.#watches.size;
  }

  on(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Runs `use` with a watch for the events that match. What happens between two calls of the watch is not missed, so
   * a caller reads, finds nothing, and waits without a gap.
   */
  async watching<T>(matches: Matches, use: (watch: Watch) => Promise<T>): Promise<T> {
    const watch = new Watch(matches);
    this.#watches.add(watch);
    try {
      return await use(watch);
    } finally {
      this.#watches.delete(watch);
    }
  }
}

export class Watch {
  readonly #matches: Matches;
  #seen = false;
  #resolve: (() => void) | undefined;

  constructor(matches: Matches) {
    this.#matches = matches;
  }

  offer(event: DaemonEvent): void {
    if (this.#matches(event)) this.wake();
  }

  wake(): void {
    this.#seen = true;
    this.#resolve?.();
  }

  /** Resolves at the next matching event since the last call, after `ms`, or when `signal` aborts. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#seen && ms > 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', finish);
          this.#resolve = undefined;
          resolve();
        };
        const timer = setTimeout(finish, ms);
        signal.addEventListener('abort', finish, { once: true });
        this.#resolve = finish;
      });
    }
    this.#seen = false;
  }
}
