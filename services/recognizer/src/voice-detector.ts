import { createRequire } from 'node:module';
import type * as Sherpa from 'sherpa-onnx-node';

const { Vad } = createRequire(import.meta.url)('sherpa-onnx-node') as typeof Sherpa;

/** Samples that the detector judges at once (Silero v5 at 16 kHz takes no other size). */
export const FRAME = 512;
/** The native detector copies its open segment on every frame; flushing this often keeps the cost flat. */
const FLUSH_EVERY_FRAMES = 300;

/** Says of each frame whether it holds voice. */
export interface VoiceDetector {
  /**
   * @param frame exactly `FRAME` samples, -1..1
   * @returns whether the frame *before* this one was voiced: a frame is judged with the first samples of the next
   */
  push(frame: Float32Array): boolean;
  reset(): void;
}

/** Silero VAD v5 by frames: the caller does the endpointing. Same audio after `reset` gives the same answers. */
export class SileroDetector implements VoiceDetector {
  readonly #vad: Sherpa.Vad;
  #frames = 0;

  constructor(model: string) {
    this.#vad = new Vad(
      {
        // 0 would mean the library's defaults of 0.5 s and 0.25 s.
        sileroVad: {
          model,
          threshold: 0.5,
          minSilenceDuration: 0.001,
          minSpeechDuration: 0.001,
          maxSpeechDuration: 1e5,
          windowSize: FRAME,
        },
        sampleRate: 16_000,
        numThreads: 1,
        provider: 'cpu',
        debug: 0,
      },
      60,
    );
  }

  push(frame: Float32Array): boolean {
    this.#vad.acceptWaveform(frame);
    this.#vad.clear();
    if (++this.#frames % FLUSH_EVERY_FRAMES === 0) {
      this.#vad.flush();
      this.#vad.clear();
    }
    return this.#vad.isDetected();
  }

  reset(): void {
    this.#vad.reset();
    this.#frames = 0;
  }
}
