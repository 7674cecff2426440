import { SAMPLES_PER_MS } from '@ambient/contract';

/** A device may deliver this much at once: what its buffers held back, ms. */
const BURST_MS = 2000;
/** Beyond its burst a device that delivers more than this share of the time has no clock. A wrong sample rate is a tenth off. */
const TOO_FAST = 1.5;

/** Holds what a live device delivers against the time that it had for it. ALSA's `null`, for one, gives zeros as fast as they are read. */
export class Pace {
  #sinceMs = 0;
  #samples = 0;

  /** The device is being started. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#samples = 0;
  }

  take(samples: number): void {
    this.#samples += samples;
  }

  /** It delivered more than a device can have heard. */
  isRunaway(nowMs: number): boolean {
    return this.#heardMs > (nowMs - this.#sinceMs) * TOO_FAST + BURST_MS;
  }

  /** It is on its way to that. */
  isHasty(nowMs: number): boolean {
    return this.#heardMs > (nowMs - this.#sinceMs) * TOO_FAST;
  }

  /** How many times the time passed it delivered so far. */
  factor(nowMs: number): number {
    return this.#heardMs / Math.max(1, nowMs - this.#sinceMs);
  }

  get #heardMs(): number {
    return this.#samples / SAMPLES_PER_MS;
  }
}
