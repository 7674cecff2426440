/** The sound of a round: pieces of the bundled conversation, and what became of them on disk. */
import { readFileSync } from 'node:fs';
import { readWav } from '../lib/wav.mjs';
import { Random } from './random.mjs';

export const RATE = 16_000;
const HEADER = 44;
/** The call is this far behind the room, so that nobody takes one for the echo of the other, s. */
const CALL_BEHIND = 7;

/** Both voices on each track, so that both have much to say. */
let both;

function conversation() {
  both ??= mix(
    ...['room', 'call'].map(
      (track) => readWav(readFileSync(new URL(`../../test/fixtures/conversation/${track}.wav`, import.meta.url)), RATE).samples,
    ),
  );
  return both;
}

function mix(a, b) {
  return a.map((sample, i) => Math.max(-32_768, Math.min(32_767, sample + (b[i] ?? 0))));
}

/** A piece of the conversation, which repeats for ever. @param from s @param seconds s @returns samples of both tracks */
export function piece(from, seconds) {
  const all = conversation();
  const cut = (start) =>
    Int16Array.from({ length: Math.round(seconds * RATE) }, (_, i) => all[(Math.round(start * RATE) + i) % all.length]);
  return { room: cut(from), call: cut(from + CALL_BEHIND) };
}

/** Adds a hiss, so that what a recorder hears is never taken for filled-in silence. */
export function withHiss(samples, seed) {
  const random = new Random(seed);
  return samples.map((sample) => Math.max(-32_768, Math.min(32_767, sample + Math.round(random.between(-60, 60)))));
}

/** Two tracks as one stereo file's samples. */
export function interleave(left, right) {
  return Int16Array.from({ length: left.length * 2 }, (_, i) => (i % 2 === 0 ? left : right)[i >> 1]);
}

/**
 * A track's file as it lies on disk, whatever its header says.
 * @returns samples, samples that the header declares, and what is wrong with the header (null: nothing)
 */
export function readTrack(file) {
  const bytes = readFileSync(file);
  const samples = Int16Array.from({ length: Math.max(0, Math.floor((bytes.length - HEADER) / 2)) }, (_, i) =>
    bytes.readInt16LE(HEADER + i * 2),
  );
  return { samples, declared: bytes.length < HEADER ? 0 : bytes.readUInt32LE(40) / 2, fault: headerFault(bytes) };
}

function headerFault(bytes) {
  if (bytes.length < HEADER) return `it has ${bytes.length} bytes`;
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 16) !== 'WAVEfmt ') return 'it is no WAV file';
  if (bytes.readUInt16LE(20) !== 1 || bytes.readUInt16LE(22) !== 1 || bytes.readUInt32LE(24) !== RATE || bytes.readUInt16LE(34) !== 16)
    return 'it is not 16 kHz mono s16';
  if (bytes.readUInt32LE(40) !== bytes.length - HEADER)
    return `it declares ${bytes.readUInt32LE(40)} bytes and has ${bytes.length - HEADER}`;
  if (bytes.readUInt32LE(4) !== bytes.length - 8) return 'its RIFF size is wrong';
  return null;
}

/** First sample at which `part` differs from the beginning of `whole`; null when `part` is a beginning of it. */
export function firstDifference(part, whole) {
  for (let i = 0; i < part.length; i++) if (part[i] !== whole[i]) return i;
  return null;
}

/** The longest stretch that was filled in between the first and the last sample heard, samples. */
export function longestHole(samples) {
  let longest = 0;
  let run = 0;
  let begun = false;
  for (const sample of samples) {
    if (sample === 0) {
      run += 1;
      continue;
    }
    if (begun) longest = Math.max(longest, run);
    begun = true;
    run = 0;
  }
  return longest;
}
