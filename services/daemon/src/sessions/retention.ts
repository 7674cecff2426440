import type { Config, SessionSummary, Warning } from '@ambient/contract';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { SessionStore } from './types.js';

const DAY_MS = 86_400_000;
/** Sessions named in a warning besides the first. */
const SHOWN = 5;

interface RetentionDeps {
  readonly store: SessionStore;
  /** null when it is not known what the user wants: nothing is deleted then. */
  readonly days: () => Config['audio_retention_days'] | null;
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
  #kept: { readonly sessions: readonly string[]; readonly at: string } | null = null;
  #again = false;

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
    return this.#kept?.sessions ?? [];
  }

  /** The same in words for the user, or why nothing is deleted; null when there is nothing to say. */
  warning(): Warning | null {
    if (this.#deps.days() === null)
      return {
        code: 'audio_kept',
        message: 'No audio is deleted, however old, because `audio_retention_days` cannot be read.',
        hint: 'Run `ambientctl doctor`: it says what is wrong with the settings.',
        at: isoWithOffset(this.#deps.clock.now()),
      };
    if (this.#kept === null) return null;
    const { sessions, at } = this.#kept;
    const [first = '', ...more] = sessions;
    const which = more.length === 0 ? first : `${first} and ${more.length} more (${more.slice(0, SHOWN).join(', ')})`;
    return {
      code: 'audio_kept',
      message: `Audio is past its time and kept, because its transcript is not complete: ${which}.`,
      hint: 'Run `ambientctl doctor` to see what keeps it from being finished, or delete the session.',
      at,
    };
  }

  /** Sweeps now. One that is asked for meanwhile sees what has become complete since this one began. */
  sweep(): Promise<Sweep> {
    this.#again = this.#running !== undefined;
    this.#running ??= this.#sweepUntilDone().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #sweepUntilDone(): Promise<Sweep> {
    const swept: string[] = [];
    for (;;) {
      const sweep = await this.#sweep();
      swept.push(...sweep.swept);
      if (!this.#again) return { swept, kept: sweep.kept };
      this.#again = false;
    }
  }

  async #sweep(): Promise<Sweep> {
    const { store, days, clock, logger } = this.#deps;
    const said = days();
    const limit = typeof said === 'number' ? said : Number.POSITIVE_INFINITY;
    const swept: string[] = [];
    const kept: string[] = [];
    for (const row of limit === Number.POSITIVE_INFINITY ? [] : await store.list()) {
      if (!row.has_audio || row.live || row.pinned) continue;
      if (row.state !== 'done' && row.state !== 'interrupted') {
        // Audio whose text is not all there is the only copy of what was said. A day is no delay worth a warning.
        if (this.#age(row.ended_at) >= Math.max(1, limit)) kept.push(row.id);
        continue;
      }
      if (limit !== 0 && !(await this.#isPast(row, limit))) continue;
      try {
        await store.removeAudio(row.id);
        swept.push(row.id);
      } catch (error) {
        logger.warn({ err: error, session: row.id }, 'retention: audio not removed');
      }
    }
    if (swept.length > 0) logger.info({ sessions: swept }, 'retention: audio deleted');
    if (kept.length > 0) logger.warn({ sessions: kept }, 'retention: audio kept, transcript not complete');
    this.#kept = kept.length === 0 ? null : { sessions: kept, at: isoWithOffset(clock.now()) };
    return { swept, kept };
  }

  /** A transcript may be finished long after its recording ended: its audio is kept that much longer. */
  async #isPast(row: SessionSummary, days: number): Promise<boolean> {
    if (this.#age(row.ended_at) < days) return false;
    const { file } = await this.#deps.store.get(row.id);
    return this.#age(file.transcribed_at ?? row.ended_at) >= days;
  }

  /** Days since then; -1 when it is not known. */
  #age(at: string | null): number {
    const ms = this.#deps.clock.now().getTime() - Date.parse(at ?? '');
    return Number.isFinite(ms) ? ms / DAY_MS : -1;
  }
}
