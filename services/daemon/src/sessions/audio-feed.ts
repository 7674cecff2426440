import type { Track } from '@ambient/contract';

/** Bytes before the first sample in every spooled WAV file. */
export const WAV_HEADER_BYTES = 44;

/**
 * A track's audio as transcription reads it: a 16 kHz mono s16 WAV file on disk that may still grow.
 * The file is the queue; a feed only tells how far it may be read.
 */
export interface AudioFeed {
  readonly track: Track;
  /** The WAV file: 44 bytes of header, then s16le samples. */
  readonly path: string;
  /** Time of sample 0 on the session's clock, ms. */
  readonly offsetMs: number;
  /** Samples that may be read now. */
  available(): number;
  /** True when no more samples will come. */
  ended(): boolean;
  /** Calls `listener` whenever `available` or `ended` changed. @returns a function that stops it. */
  subscribe(listener: () => void): () => void;
}

/** A feed over a file that will not grow any more. */
export class StaticAudioFeed implements AudioFeed {
  readonly track: Track;
  readonly path: string;
  readonly offsetMs: number;
  readonly #samples: number;

  constructor(track: Track, path: string, offsetMs: number, samples: number) {
    this.track = track;
    this.path = path;
    this.offsetMs = offsetMs;
    this.#samples = samples;
  }

  available(): number {
    return this.#samples;
  }

  ended(): boolean {
    return true;
  }

  subscribe(): () => void {
    return () => {};
  }
}
