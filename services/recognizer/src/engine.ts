import { createRequire } from 'node:module';
import type * as Sherpa from 'sherpa-onnx-node';
import type { ModelFiles } from './protocol.js';

const { OfflineRecognizer } = createRequire(import.meta.url)('sherpa-onnx-node') as typeof Sherpa;

const RATE = 16_000;
/** Shorter audio makes the encoder fail, samples. */
const SHORTEST = 1_600;
/** Speech stays under 6.1 tokens a second (measured); above this the decoder has run away into repeats. */
const RUNAWAY_TOKENS_PER_SECOND = 8;
/** Moonshine now and then reads nothing from clear speech; silence in front brings the text back (0.4 s). */
const LEAD_IN = 6_400;
/** A turn shorter than this is not halved again, samples (1 s). */
const HALVING_FLOOR = RATE;

export interface Reading {
  readonly text: string;
  readonly confidence: number | null;
  readonly language: string | null;
}

/** One loaded speech model. */
export class Engine {
  readonly #recognizer: Sherpa.OfflineRecognizer;
  readonly #language: string | null;

  private constructor(recognizer: Sherpa.OfflineRecognizer, language: string | null) {
    this.#recognizer = recognizer;
    this.#language = language;
  }

  /** Rejects on files that cannot be loaded; some faults of the native library end the process instead. */
  static async load(model: ModelFiles, threads: number): Promise<Engine> {
    const recognizer = await OfflineRecognizer.createAsync({
      featConfig: { sampleRate: RATE, featureDim: 80 },
      modelConfig: {
        moonshine: { encoder: model.encoder, mergedDecoder: model.mergedDecoder },
        tokens: model.tokens,
        numThreads: threads,
        provider: 'cpu',
        debug: 0,
      },
    });
    return new Engine(recognizer, model.language);
  }

  /** Text of one turn, 16 kHz mono in -1..1. Empty when nothing is said. */
  async read(samples: Float32Array): Promise<Reading> {
    const clean = finite(samples);
    let text = await this.#sane(clean);
    if (text === '' && clean.length >= RATE) text = await this.#sane(withLeadIn(clean));
    return { text, confidence: null, language: text === '' ? null : this.#language };
  }

  /** Decodes; a runaway is decoded again in halves, cut where it is quietest. */
  async #sane(samples: Float32Array): Promise<string> {
    const { text, tokens } = await this.#decode(samples);
    if (tokens <= RUNAWAY_TOKENS_PER_SECOND * Math.max(0.5, samples.length / RATE)) return text;
    if (samples.length < 2 * HALVING_FLOOR) return '';
    const cut = quietest(samples);
    const halves = [await this.#sane(samples.slice(0, cut)), await this.#sane(samples.slice(cut))];
    return halves.filter((half) => half !== '').join(' ');
  }

  async #decode(samples: Float32Array): Promise<{ text: string; tokens: number }> {
    const stream = this.#recognizer.createStream();
    stream.acceptWaveform({ samples: samples.length < SHORTEST ? padded(samples, SHORTEST) : samples, sampleRate: RATE });
    const { text, tokens } = await this.#recognizer.decodeAsync(stream);
    return { text: text.replaceAll('<unk>', ' ').replace(/\s+/g, ' ').trim(), tokens: tokens.length };
  }
}

/** One sample that is not a number spoils the whole turn. */
function finite(samples: Float32Array): Float32Array {
  return samples.every(Number.isFinite)
    ? samples
    : samples.map((sample) => (Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0));
}

function padded(samples: Float32Array, length: number): Float32Array {
  const longer = new Float32Array(length);
  longer.set(samples);
  return longer;
}

function withLeadIn(samples: Float32Array): Float32Array {
  const longer = new Float32Array(LEAD_IN + samples.length);
  longer.set(samples, LEAD_IN);
  return longer;
}

/** The quietest 50 ms of the middle half. */
function quietest(samples: Float32Array): number {
  const window = RATE / 20;
  let best = samples.length >> 1;
  let least = Number.POSITIVE_INFINITY;
  for (let at = samples.length >> 2; at + window <= (samples.length * 3) >> 2; at += window >> 1) {
    let sum = 0;
    for (let i = at; i < at + window; i++) sum += (samples[i] ?? 0) ** 2;
    if (sum < least) {
      least = sum;
      best = at + (window >> 1);
    }
  }
  return best;
}
