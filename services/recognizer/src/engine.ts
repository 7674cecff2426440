import { finite, padded, quietestPoint, RATE } from './audio.js';
import { type Decode, type Decoded, loadDecoder } from './decoder.js';
import type { ModelFiles } from './protocol.js';
import { findRepeat, mostLike, withinSpeakingRate } from './repeats.js';

/** Speech stays under 6.1 tokens a second (measured); above this the decoder has run away into repeats. */
const RUNAWAY_TOKENS_PER_SECOND = 8;
/** Moonshine now and then reads nothing from clear speech; silence in front brings the text back, samples (0.4 s). */
const LEAD_IN = 6_400;
/** What was heard is heard again with some silence before or after it, what was made up is not, samples (0.1 s and 0.3 s). */
const NUDGES = [
  [1_600, 0],
  [0, 4_800],
] as const;
/** A turn shorter than this is not halved again, samples (1 s). */
const HALVING_FLOOR = RATE;
/** Sounds without words, lone letters and one short word, which the models also hear in music. */
const HUM = /^(?:[a-z]|h*m+|u+[hm]+|e+r+m?|[ao]+h+|h+u+h+|you)$/i;

/** Hours, minutes and seconds, or thousandths: nobody says them, subtitles that the models learned from have them. */
const TIMESTAMP = /\d:\d\d:\d\d|\d:\d\d\.\d{3}/;

/** One turn's text. */
export interface Reading {
  readonly text: string;
  readonly confidence: number | null;
  readonly language: string | null;
}

/** One loaded speech model, and what its habits ask for. */
export class Engine {
  readonly #decode: Decode;
  readonly #language: string | null;

  /** @param language BCP 47 of every text, or null when the model knows several */
  constructor(decode: Decode, language: string | null) {
    this.#decode = decode;
    this.#language = language;
  }

  /** Rejects on files that cannot be loaded; some faults of the native library end the process instead. */
  static async load(model: ModelFiles): Promise<Engine> {
    return new Engine(await loadDecoder(model), model.language);
  }

  /**
   * Text of one turn, 16 kHz mono in -1..1. Empty when nothing is said.
   * @param voicedSeconds of the turn in which voice is heard
   */
  async read(samples: Float32Array, voicedSeconds = samples.length / RATE): Promise<Reading> {
    const clean = finite(samples);
    let text = await this.#sane(clean);
    if (text === '' && clean.length >= RATE) text = await this.#sane(padded(clean, LEAD_IN));
    if (TIMESTAMP.test(text)) text = await this.#withoutTimestamp(text, clean);
    text = await this.#saidOnce(text, clean, voicedSeconds);
    if (isHum(text) && !(await this.#heardAgain(clean))) text = '';
    return { text, confidence: null, language: text === '' ? null : this.#language };
  }

  /** Decodes; a runaway is decoded again in halves. */
  async #sane(samples: Float32Array): Promise<string> {
    const decoded = await this.#decode(samples);
    if (!ranAway(decoded, samples)) return decoded.text;
    return samples.length < 2 * HALVING_FLOOR ? '' : this.#halves(samples);
  }

  /** The text of both halves, cut where it is quietest. */
  async #halves(samples: Float32Array): Promise<string> {
    const cut = quietestPoint(samples);
    const halves = [await this.#sane(samples.slice(0, cut)), await this.#sane(samples.slice(cut))];
    return halves.filter((half) => half !== '').join(' ');
  }

  /** A phrase that the text says twice and the audio does not: too fast for any voice, or gone when each half is read alone. */
  async #saidOnce(text: string, samples: Float32Array, voicedSeconds: number): Promise<string> {
    if (findRepeat(text) === undefined) return text;
    const spoken = withinSpeakingRate(text, voicedSeconds);
    const repeat = findRepeat(spoken);
    // People do say a word twice; the model makes up phrases.
    if (repeat === undefined || repeat.words < 2) return spoken;
    const halves = await this.#halves(samples);
    return halves === '' ? spoken : mostLike(halves, spoken, repeat);
  }

  /** Another reading of the same audio that has none; the text as it is when every reading has one. */
  async #withoutTimestamp(text: string, samples: Float32Array): Promise<string> {
    for (const [before, after] of NUDGES) {
      const again = await this.#sane(padded(samples, before, after));
      if (again !== '' && !TIMESTAMP.test(again)) return again;
    }
    return text;
  }

  async #heardAgain(samples: Float32Array): Promise<boolean> {
    for (const [before, after] of NUDGES) if ((await this.#decode(padded(samples, before, after))).text === '') return false;
    return true;
  }
}

function isHum(text: string): boolean {
  const words = text.split(/[^\p{L}\p{N}']+/u).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => HUM.test(word));
}

function ranAway({ tokens }: Decoded, samples: Float32Array): boolean {
  return tokens > RUNAWAY_TOKENS_PER_SECOND * Math.max(0.5, samples.length / RATE);
}
