import type { Config } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { SessionStore } from './types.js';

const DAY_MS = 86_400_000;

interface RetentionDeps {
  readonly store: SessionStore;
  readonly days: () => Config['audio_retention_days'];
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Sweep {
  /** Sessions whose audio was deleted. */
  readonly swept: readonly string[];
  /** Sessions past their time whose audio stays, because their transcript is not complete. */
  readonly kept: readonly string[];
}

/** Deletes audio that is past its time: at start, then daily. Text always stays. */
export class Retention {
  readonly #deps: RetentionDeps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<Sweep> | undefined;
  #kept: readonly string[] = [];

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.sweep();
    this.#timer = setInterval(() => void this.sweep(), DAY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Sessions whose audio outlived its time because their transcript is not complete. */
  kept(): readonly string[] {
    return this.#kept;
  }

  sweep(): Promise<Sweep> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #sweep(): Promise<Sweep> {
    const { store, days, clock, logger } = this.#deps;
    const limit = days();
    if (limit === 'forever') {
      this.#kept = [];
      return { swept: [], kept: [] };
    }
    const swept: string[] = [];
    const kept: string[] = [];
    for (const row of await store.list()) {
      if (!row.has_audio || row.live || row.pinned) continue;
      const ended = Date.parse(row.ended_at ?? '');
      if (Number.isFinite(ended) && clock.now().getTime() - ended < limit * DAY_MS) continue;
      // Audio whose text is not all there is the only copy of what was said.
      if (row.state !== 'done' && row.state !== 'interrupted') {
        kept.push(row.id);
        continue;
      }
      if (!Number.isFinite(ended)) continue;
      try {
        await store.removeAudio(row.id);
        swept.push(row.id);
      } catch (error) {
        logger.warn({ err: error, session: row.id }, 'retention: audio not removed');
      }
    }
    if (kept.length > 0) logger.warn({ sessions: kept }, 'retention: audio kept, transcript not complete');
    this.#kept = kept;
    return { swept, kept };
  }
}
