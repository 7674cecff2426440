import type { Clock } from '../platform/clock.js';

/** A jump between two clocks of less than this is jitter or a slewed clock, ms. */
const JUMP_MS = 3000;
/** On a Mac the monotonic clock counts sleep too; there it shows as a long time without a tick, ms. */
const MAC_TICK_MS = 5000;

/** The computer was asleep. */
export interface Sleep {
  /** How long by the wall clock, ms; for words only. */
  readonly wallMs: number;
}

/**
 * The clock that samples are held against: monotonic, sleep included where it can be told from a step of the wall
 * clock. The wall clock itself never moves it.
 */
export class SessionClock {
  readonly #clock: Clock;
  readonly #platform: NodeJS.Platform;
  #sleptMs = 0;
  #last: { mono: number; wall: number; boot: number | null };

  constructor(clock: Clock, platform: NodeJS.Platform = process.platform) {
    this.#clock = clock;
    this.#platform = platform;
    this.#last = this.#read();
  }

  /** Milliseconds from an arbitrary start. */
  nowMs(): number {
    return this.#clock.monotonicMs() + this.#sleptMs;
  }

  /** Compares the clocks since the last call; to be called every second or so. */
  check(): Sleep | null {
    const now = this.#read();
    const mono = now.mono - this.#last.mono;
    const wallMs = now.wall - this.#last.wall;
    const asleep = now.boot === null || this.#last.boot === null ? null : now.boot - this.#last.boot - mono;
    this.#last = now;
    if (asleep !== null && asleep > JUMP_MS) {
      this.#sleptMs += asleep;
      return { wallMs };
    }
    if (this.#platform === 'darwin' && mono > MAC_TICK_MS) return { wallMs };
    // Without a clock that counts sleep, a jump may be a step of the wall clock: recorders are restarted to be safe,
    // but no time is added for it.
    if (asleep === null && wallMs - mono > JUMP_MS) return { wallMs };
    return null;
  }

  #read(): { mono: number; wall: number; boot: number | null } {
    return { mono: this.#clock.monotonicMs(), wall: this.#clock.now().getTime(), boot: this.#clock.sinceBootMs?.() ?? null };
  }
}
