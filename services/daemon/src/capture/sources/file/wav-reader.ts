import type { FileHandle } from 'node:fs/promises';
import { FORMAT_BYTES, type SampleFormat } from './pcm.js';

/** Where a WAV file's samples are, and what they are. */
export interface WavLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly format: SampleFormat;
  /** First byte of the samples. */
  readonly dataStart: number;
  /** Bytes of samples that are there, whole frames. */
  readonly dataBytes: number;
  /** What the header promises beyond what is there, seconds; 0 for a whole file. */
  readonly missingS: number;
}

/** Chunks looked at before the file counts as none that can be read here. */
const MAX_CHUNKS = 200;
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
/** Programs that stream and cannot know the length write 0, or one from here on, such as 0x7ffff000 or 0xffffffff. */
const UNKNOWN_FROM = 0x7fff_0000;

/** Reads the chunks of a RIFF/WAVE file. Null for anything but plain PCM or float: other programs decode those. */
export async function readWavLayout(handle: FileHandle): Promise<WavLayout | null> {
  const { size } = await handle.stat();
  const riff = await bytesAt(handle, 0, 12);
  if (riff === null || riff.toString('latin1', 0, 4) !== 'RIFF' || riff.toString('latin1', 8, 12) !== 'WAVE') return null;
  let format: Pick<WavLayout, 'sampleRate' | 'channels' | 'format'> | null = null;
  let at = 12;
  for (let i = 0; i < MAX_CHUNKS; i++) {
    const head = await bytesAt(handle, at, 8);
    if (head === null) return null;
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    if (id === 'fmt ') format = parseFormat(await bytesAt(handle, at + 8, Math.min(length, 40)));
    if (id === 'data') return format === null ? null : layout(format, at + 8, length, size);
    at += 8 + length + (length % 2);
  }
  return null;
}

function layout(format: Pick<WavLayout, 'sampleRate' | 'channels' | 'format'>, dataStart: number, length: number, size: number): WavLayout {
  const present = size - dataStart;
  const known = length <= present ? length > 0 : length < UNKNOWN_FROM;
  const frame = FORMAT_BYTES[format.format] * format.channels;
  const bytes = known ? Math.min(length, present) : present;
  const missingS = known ? Math.max(0, length - present) / (frame * format.sampleRate) : 0;
  return { ...format, dataStart, dataBytes: bytes - (bytes % frame), missingS };
}

function parseFormat(chunk: Buffer | null): Pick<WavLayout, 'sampleRate' | 'channels' | 'format'> | null {
  if (chunk === null || chunk.length < 16) return null;
  const tag = chunk.readUInt16LE(0);
  const kind = tag === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const channels = chunk.readUInt16LE(2);
  const format = sampleFormat(kind, chunk.readUInt16LE(14));
  if (format === null || channels < 1 || channels > 64) return null;
  // A frame of another size has padding that only a full decoder knows.
  if (chunk.readUInt16LE(12) !== FORMAT_BYTES[format] * channels) return null;
  return { sampleRate: chunk.readUInt32LE(4), channels, format };
}

function sampleFormat(kind: number, bits: number): SampleFormat | null {
  if (kind === FLOAT) return bits === 32 ? 'f32' : bits === 64 ? 'f64' : null;
  if (kind !== PCM) return null;
  return ({ 8: 'u8', 16: 's16', 24: 's24', 32: 's32' } as const)[bits as 8 | 16 | 24 | 32] ?? null;
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer | null> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return bytesRead === length ? buffer : null;
}
