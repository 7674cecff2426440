import type { Clock } from '../platform/clock.js';

/** Wrong tokens that are answered without a wait: a person who pastes the wrong one does not notice anything. */
const FREE_FAILURES = 3;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 30_000;
/** One failure is forgotten each so many ms. */
const FORGET_MS = 2_000;
/** Failures beyond this change nothing any more. */
const MAX_FAILURES = FREE_FAILURES + Math.ceil(Math.log2(MAX_DELAY_MS / FIRST_DELAY_MS)) + 30;

/**
 * How long the answer to a wrong token is held back. It doubles with every recent wrong token, whoever sent it, because
 * a connection on a Unix socket has no address to tell guessers apart by. A right token never meets this.
 */
export class GuessThrottle {
  readonly #clock: Clock;
  #failures = 0;
  #seenMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one wrong token. @returns ms to hold the answer back */
  failed(): number {
    const now = this.#clock.monotonicMs();
    const forgotten = Math.floor((now - this.#seenMs) / FORGET_MS);
    if (forgotten > 0) {
      this.#failures = Math.max(0, this.#failures - forgotten);
      this.#seenMs = now;
    }
    this.#failures = Math.min(MAX_FAILURES, this.#failures + 1);
    const doublings = this.#failures - FREE_FAILURES - 1;
    return doublings < 0 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** doublings);
  }
}
