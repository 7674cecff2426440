import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { RATE } from './audio.js';
import type { DetectorOptions } from './protocol.js';
import { type DetectedTurn, TurnDetector } from './turn-detector.js';
import { SileroDetector } from './voice-detector.js';

const folder = path.resolve(import.meta.dirname, '../../../test/fixtures/conversation');
/** Bytes of a WAV file before its first sample, as the fixtures have it. */
const HEADER = 44;

const Script = z.object({
  turns: z.array(z.object({ track: z.enum(['room', 'call']), start_ms: z.number(), end_ms: z.number(), text: z.string() })),
});

/** What is said in the bundled conversation, and when. */
export function script(): z.infer<typeof Script>['turns'] {
  return Script.parse(JSON.parse(readFileSync(path.join(folder, 'script.json'), 'utf8'))).turns;
}

/** Samples of one track of the bundled conversation, 16 kHz mono in -1..1. */
export function track(name: 'room' | 'call'): Float32Array {
  return floats(readFileSync(path.join(folder, `${name}.wav`)).subarray(HEADER));
}

/** One turn of the script by its number, without the silence around it. */
export function spoken(index: number): Float32Array {
  const turn = script()[index];
  if (turn === undefined) throw new RangeError(`the script has no turn ${index}`);
  return track(turn.track).slice(samples(turn.start_ms / 1000), samples(turn.end_ms / 1000));
}

export function samples(seconds: number): number {
  return Math.round(seconds * RATE);
}

export function silence(seconds: number): Float32Array {
  return new Float32Array(samples(seconds));
}

export function joined(...parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function pcm(audio: Float32Array): Buffer {
  const bytes = Buffer.alloc(audio.length * 2);
  for (const [i, sample] of audio.entries()) bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), i * 2);
  return bytes;
}

function floats(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(i * 2) / 32_768);
}

export const OPTIONS: DetectorOptions = { pauseSeconds: 0.5, minSpeechSeconds: 0.25, maxTurnSeconds: 20 };

/**
 * Every turn of a track from sample `from` on, as one stream finds them.
 * @param chunk samples given at once
 */
export function turnsOf(vad: string, audio: Buffer, { from = 0, chunk = 160_000, options = OPTIONS } = {}): DetectedTurn[] {
  const context = Math.min(from, RATE);
  const detector = new TurnDetector(new SileroDetector(vad), options, from, audio.subarray((from - context) * 2, from * 2));
  const found: DetectedTurn[] = [];
  const drain = (): void => {
    for (let turn = detector.next(); turn !== undefined; turn = detector.next()) found.push(turn);
  };
  for (let at = from * 2; at < audio.length; at += chunk * 2) {
    detector.append(audio.subarray(at, at + chunk * 2));
    drain();
  }
  detector.finish();
  drain();
  const last = detector.last();
  if (last !== undefined) found.push(last);
  return found;
}
