/**
 * Messages between the daemon and the recognizer child, over Node's IPC channel with `advanced` serialization.
 * Positions are samples of the track (16 kHz mono); ranges are `[from, to)`.
 */

/** Files of one model, checked before they are loaded. */
export interface ModelFiles {
  readonly name: string;
  readonly encoder: string;
  readonly mergedDecoder: string;
  readonly tokens: string;
  readonly vad: string;
  /** BCP 47 when the model speaks one language only. */
  readonly language: string | null;
}

export interface DetectorOptions {
  /** Silence that ends a turn, seconds. */
  readonly pauseSeconds: number;
  /** A turn with less voice than this is no turn, seconds. */
  readonly minSpeechSeconds: number;
  /** A longer turn is cut at its quietest point, seconds. */
  readonly maxTurnSeconds: number;
}

export type ToRecognizer =
  | { readonly type: 'load'; readonly model: ModelFiles; readonly turnsAtOnce: number; readonly detector: DetectorOptions }
  /** How many turns may be read at once from now on, each on a thread of its own. */
  | { readonly type: 'pace'; readonly turnsAtOnce: number }
  /**
   * A stream of one track that begins at sample `from`. `context` is the audio just before it (s16le, at most
   * `CONTEXT_SAMPLES`): the detector warms up on it, so that a resumed stream finds the very turns an unbroken one would.
   */
  | { readonly type: 'open'; readonly stream: number; readonly from: number; readonly context: Uint8Array; readonly urgent: boolean }
  /** The next samples, s16le. Answered by `fed`. */
  | { readonly type: 'feed'; readonly stream: number; readonly pcm: Uint8Array }
  /** No more samples will come; the last turn is closed, then `finished` is sent. */
  | { readonly type: 'finish'; readonly stream: number }
  | { readonly type: 'close'; readonly stream: number };

export type FromRecognizer =
  | { readonly type: 'loaded'; readonly ms: number }
  | { readonly type: 'load-failed'; readonly message: string }
  /** Every turn that ends before `to` has been sent before this. `speaking`: voice is being heard at `to`. */
  | { readonly type: 'fed'; readonly stream: number; readonly to: number; readonly speaking: boolean }
  /** Sent before a turn is recognised, so that a crash or a hang can be laid at its door. In order within its stream, like its `turn`. */
  | { readonly type: 'decoding'; readonly stream: number; readonly from: number; readonly to: number }
  /** A turn, in order within its stream. Empty `text`: nothing was said. */
  | {
      readonly type: 'turn';
      readonly stream: number;
      readonly from: number;
      readonly to: number;
      readonly text: string;
      readonly confidence: number | null;
      readonly language: string | null;
      readonly ms: number;
    }
  | { readonly type: 'finished'; readonly stream: number };

/** Audio before a stream's start that the detector is warmed up with, samples (1 s). */
export const CONTEXT_SAMPLES = 16_000;
