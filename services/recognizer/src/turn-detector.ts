import { RATE } from './audio.js';
import { CONTEXT_SAMPLES, type DetectorOptions } from './protocol.js';
import { SampleBuffer } from './sample-buffer.js';
import { FRAME, type VoiceDetector } from './voice-detector.js';

/** Audio given to the recognizer on each side of a turn, samples (0.2 s). */
const PADDING = 3_200;
/** A forced cut keeps this much audio after it, frames, so that the rest of the word it avoids is heard whole. */
const CUT_MARGIN_FRAMES = 8;
/** After this long without a voice the detector starts afresh: noise and music leave it deaf to speech, samples (3 s). */
const STALE_SAMPLES = 3 * RATE;

export interface DetectedTurn {
  /** Samples of the track, `[from, to)`. */
  readonly from: number;
  readonly to: number;
  /** Samples in which voice is heard. */
  readonly voiced: number;
  /** The turn with its context, -1..1. */
  readonly samples: Float32Array;
}

interface Frame {
  readonly energy: number;
  readonly voiced: boolean;
}

/**
 * Finds turns in one track. After every turn it starts afresh at the turn's end, warmed up on the second before it: what it
 * finds depends on the audio and on the last turn's end alone, so a stream resumed there finds the same turns.
 */
export class TurnDetector {
  readonly #detector: VoiceDetector;
  readonly #options: DetectorOptions;
  readonly #buffer: SampleBuffer;
  /** Nothing before this sample belongs to a turn to come. */
  #origin: number;
  /** Next frame to judge begins here. */
  #position: number;
  #pass: { start: number; end: number; voiced: number; frames: Frame[]; base: number };
  #real: number | undefined;
  #resetAt = 0;

  /** @param context s16le audio that ends at `from` */
  constructor(detector: VoiceDetector, options: DetectorOptions, from: number, context: Uint8Array) {
    this.#detector = detector;
    this.#options = options;
    const held = Math.min(context.byteLength >> 1, CONTEXT_SAMPLES, from);
    this.#buffer = new SampleBuffer(from - held);
    this.#buffer.append(context.subarray(context.byteLength - held * 2));
    this.#origin = from;
    this.#position = 0;
    this.#pass = freshPass(0);
    this.#restart();
  }

  /** End of the audio it was given. */
  get end(): number {
    return this.#real ?? this.#buffer.end;
  }

  get speaking(): boolean {
    return this.#pass.start >= 0;
  }

  append(pcm: Uint8Array): void {
    this.#buffer.append(pcm);
  }

  /** The next complete turn, or undefined when more audio is needed. */
  next(): DetectedTurn | undefined {
    while (this.#position + FRAME <= this.#buffer.end) {
      const turn = this.#judge();
      if (turn !== undefined) return this.#take(turn.from, turn.to, turn.voiced);
    }
    if (this.#pass.start < 0) this.#buffer.dropBefore(this.#position - CONTEXT_SAMPLES);
    return undefined;
  }

  /** No more audio will come: call once, then `next` until it is undefined, then `last`. */
  finish(): void {
    if (this.#real !== undefined) return;
    this.#real = this.#buffer.end;
    // The last frame is judged with the first samples of one after it.
    const partial = (this.#buffer.end - this.#position) % FRAME;
    this.#buffer.appendSilence((partial === 0 ? 0 : FRAME - partial) + 2 * FRAME);
  }

  /** The turn still open at the end of the audio. */
  last(): DetectedTurn | undefined {
    const { start, end, voiced } = this.#pass;
    if (start < 0 || voiced < this.#options.minSpeechSeconds * RATE) return undefined;
    const to = Math.min(end, this.end);
    this.#pass = freshPass(this.#position);
    return to > start ? { from: start, to, voiced, samples: this.#padded(start, to) } : undefined;
  }

  #judge(): { from: number; to: number; voiced: number } | undefined {
    const at = this.#position;
    const frame = this.#buffer.view(at, at + FRAME);
    const voiced = this.#detector.push(frame);
    this.#position += FRAME;
    const { pauseSeconds, minSpeechSeconds, maxTurnSeconds } = this.#options;
    // The verdict is about the frame before the one just given.
    const about = at - FRAME;
    const pass = this.#pass;
    pass.frames.push({ energy: energy(frame), voiced });
    if (about + FRAME <= this.#origin) return undefined;
    if (voiced) {
      if (pass.start < 0) {
        // The detector takes two frames to believe in a voice.
        pass.start = Math.max(this.#origin, about - FRAME);
        pass.voiced = FRAME;
      }
      pass.voiced += FRAME;
      pass.end = about + FRAME;
    } else if (pass.start >= 0 && about + FRAME - pass.end >= pauseSeconds * RATE) {
      const turn = { from: pass.start, to: pass.end, voiced: pass.voiced };
      const enough = pass.voiced >= minSpeechSeconds * RATE;
      pass.start = -1;
      if (enough) return turn;
    }
    if (pass.start >= 0 && about + FRAME - pass.start >= maxTurnSeconds * RATE) {
      const to = this.#quietest();
      return { from: pass.start, to, voiced: Math.min(pass.voiced, to - pass.start) };
    }
    if (pass.start < 0) this.#rest();
    return undefined;
  }

  /** Where an overlong turn is cut: its quietest moment in the later half, at best one where the detector hears no voice. */
  #quietest(): number {
    const { start, frames, base } = this.#pass;
    const half = start + (this.#options.maxTurnSeconds * RATE) / 2;
    const first = Math.max(1, Math.floor((half - base) / FRAME));
    let best = first;
    let least = Number.POSITIVE_INFINITY;
    for (let i = first; i < frames.length - CUT_MARGIN_FRAMES; i++) {
      const around = (frames[i - 1]?.energy ?? 0) + (frames[i]?.energy ?? 0) + (frames[i + 1]?.energy ?? 0);
      // Verdicts lag one frame behind energies. Silence that was heard as such always wins over a quiet vowel.
      const score = around * (frames[i + 1]?.voiced === false ? 1e-6 : 1);
      if (score < least) {
        least = score;
        best = i;
      }
    }
    return base + best * FRAME + FRAME / 2;
  }

  #take(from: number, to: number, voiced: number): DetectedTurn {
    const turn = { from, to, voiced, samples: this.#padded(from, to) };
    this.#origin = to;
    this.#restart();
    return turn;
  }

  /** Context never reaches into the turn before, nor past a cut: words at a seam are heard once. */
  #padded(from: number, to: number): Float32Array {
    const left = Math.max(from - PADDING, this.#origin);
    const next = this.#pass.start >= 0 ? to : to + PADDING;
    return this.#buffer.view(left, Math.min(next, this.end)).slice();
  }

  #restart(): void {
    this.#buffer.dropBefore(this.#origin - CONTEXT_SAMPLES);
    this.#position = Math.max(this.#buffer.start, this.#origin - CONTEXT_SAMPLES);
    this.#pass = freshPass(this.#position);
    this.#detector.reset();
    this.#resetAt = this.#position;
  }

  /** Without a voice: frames are not needed again, and what the detector remembers does harm. */
  #rest(): void {
    if (this.#pass.frames.length < 4) return;
    this.#pass.frames = [];
    this.#pass.base = this.#position;
    if (this.#position - Math.max(this.#resetAt, this.#pass.end) >= STALE_SAMPLES) {
      this.#detector.reset();
      this.#resetAt = this.#position;
    }
  }
}

function freshPass(base: number): { start: number; end: number; voiced: number; frames: Frame[]; base: number } {
  return { start: -1, end: -1, voiced: 0, frames: [], base };
}

function energy(frame: Float32Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum;
}
