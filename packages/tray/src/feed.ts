import type { AmbientClient } from '@ambient/client';
import type { TrayInput } from './state.js';

/** Between two tries to reach the daemon, ms. */
const RETRY_MS = 1_000;
/** Newest sessions looked at for the last one that is not live. */
const RECENT = 5;

/**
 * Follows the daemon's events for as long as it lives, and comes back by itself. What events only tell when it
 * changes (approvals, the last session, warnings of the recording) is asked for after each connection.
 */
export class DaemonFeed {
  readonly #client: AmbientClient;
  readonly #emit: (input: TrayInput) => void;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;

  constructor(client: AmbientClient, emit: (input: TrayInput) => void) {
    this.#client = client;
    this.#emit = emit;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch {
        // No daemon: the tray shows that, and tries again.
      }
      if (signal.aborted) return;
      this.#emit({ type: 'disconnected' });
      await pause(RETRY_MS, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let live: string | null | undefined;
    for await (const event of this.#client.events({ signal })) {
      this.#emit({ type: 'event', event });
      if (event.type === 'removed') void this.#askLast(signal);
      if (event.type !== 'status') continue;
      const first = live === undefined;
      const next = event.status.live?.id ?? null;
      if (next !== null && next !== live) void this.#askWarnings(next, signal);
      if (first) void this.#askApprovals(signal);
      if (first || (live !== null && next !== live)) void this.#askLast(signal);
      live = next;
    }
  }

  async #askApprovals(signal: AbortSignal): Promise<void> {
    const reply = await this.#client.call('approvals', {}, { signal }).catch(() => undefined);
    if (reply !== undefined) this.#emit({ type: 'approvals', approvals: reply.approvals });
  }

  async #askLast(signal: AbortSignal): Promise<void> {
    const reply = await this.#client.call('sessions', { query: { limit: RECENT } }, { signal }).catch(() => undefined);
    if (reply !== undefined) this.#emit({ type: 'last', session: reply.sessions.find(({ state }) => state !== 'live') ?? null });
  }

  async #askWarnings(session: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#client.call('session', { params: { session } }, { signal }).catch(() => undefined);
    if (reply?.file != null) this.#emit({ type: 'live_warnings', session, warnings: reply.file.warnings });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
