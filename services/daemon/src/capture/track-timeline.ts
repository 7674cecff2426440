import { SAMPLES_PER_MS } from '@ambient/contract';

/** What to do with a block so that the track stays in step with the clock. */
export interface Placement {
  /** Samples of silence that belong before the block: the recorder lost that many. */
  readonly lost: number;
  /** Samples that the block should be stretched or squeezed to. */
  readonly length: number;
  /** The track is too far ahead of the clock for that: the block is to be left out. */
  readonly surplus: boolean;
}

/** Smaller holes than this are jitter, samples (20 ms). */
const MIN_HOLE = 20 * SAMPLES_PER_MS;
/** A track this far behind, for as long as the window is, has lost samples, samples (300 ms). */
const LOST = 300 * SAMPLES_PER_MS;
/** An error up to this is left alone, samples (4 ms). */
const DEAD_BAND = 4 * SAMPLES_PER_MS;
/** An error would be gone after this long, were it not for the cap, samples (10 s). */
const CORRECTION_SPAN = 10_000 * SAMPLES_PER_MS;
/** Inaudible on speech, and twice what a bad sound card is off. */
const MAX_STRETCH = 0.002;
/** For an error above this a device runs at a plainly wrong rate; truth of the clock then counts more, samples (1 s). */
const GROSS = 1000 * SAMPLES_PER_MS;
const MAX_GROSS_STRETCH = 0.1;
/** A track that is further ahead than this has what nobody can have heard yet, samples (1.5 s). A wrong sample rate stays within 1.1 s. */
const SURPLUS = 1500 * SAMPLES_PER_MS;
const WINDOW_BUCKETS = 4;
const BUCKET_MS = 1000;

/**
 * Keeps a device track's sample position true to the monotonic clock: sample n was heard at `origin + n / 16` ms.
 * Blocks arrive late by a varying delay but never early, so the error of a stretch of time is that of its most
 * punctual block.
 */
export class TrackTimeline {
  readonly #originMs: number;
  #position = 0;
  #buckets: number[] = [];
  #bucketEndsMs = 0;
  #owed = 0;

  constructor(originMs: number) {
    this.#originMs = originMs;
  }

  /** Samples placed so far. */
  get position(): number {
    return this.#position;
  }

  /** Time of the next sample on the clock, ms. */
  get positionMs(): number {
    return this.#originMs + this.#position / SAMPLES_PER_MS;
  }

  advance(samples: number): void {
    this.#position += samples;
  }

  /** Samples missing until `atMs`; 0 when the track is there already. */
  missing(atMs: number): number {
    return Math.max(0, Math.floor(this.#expected(atMs) - this.#position));
  }

  /** A recorder begins anew and its first sample was heard at `heardMs`. @returns samples of silence to add before it */
  align(heardMs: number): number {
    this.#reset();
    const hole = this.missing(heardMs);
    return hole < MIN_HOLE ? 0 : hole;
  }

  /** Where `samples` samples that arrived at `atMs` belong. */
  place(samples: number, atMs: number): Placement {
    const ahead = this.#position + samples - this.#expected(atMs);
    if (ahead > SURPLUS) return { lost: 0, length: 0, surplus: true };
    const error = this.#observe(ahead, atMs);
    if (error < -LOST) {
      this.#reset();
      return { lost: Math.round(-error), length: samples, surplus: false };
    }
    if (Math.abs(error) <= DEAD_BAND) return { lost: 0, length: samples, surplus: false };
    const cap = Math.abs(error) > GROSS ? MAX_GROSS_STRETCH : MAX_STRETCH;
    const share = Math.max(-cap, Math.min(cap, error / CORRECTION_SPAN));
    this.#owed += share * samples;
    const whole = Math.trunc(this.#owed);
    this.#owed -= whole;
    return { lost: 0, length: samples - whole, surplus: false };
  }

  #expected(atMs: number): number {
    return (atMs - this.#originMs) * SAMPLES_PER_MS;
  }

  /** @returns the error over the window, or 0 until the window is full */
  #observe(error: number, atMs: number): number {
    if (this.#buckets.length === 0 || atMs >= this.#bucketEndsMs) {
      this.#buckets.push(error);
      this.#bucketEndsMs = atMs + BUCKET_MS;
      if (this.#buckets.length > WINDOW_BUCKETS) this.#buckets.shift();
    } else {
      const last = this.#buckets.length - 1;
      this.#buckets[last] = Math.max(this.#buckets[last] ?? error, error);
    }
    return this.#buckets.length < WINDOW_BUCKETS ? 0 : Math.max(...this.#buckets);
  }

  #reset(): void {
    this.#buckets = [];
    this.#owed = 0;
  }
}
