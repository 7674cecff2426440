import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { SAMPLE_RATE } from '@ambient/contract';
import { openNoFollow } from '../platform/files.js';
import { WAV_HEADER_BYTES } from './audio-feed.js';

/** Bytes of one s16 sample. */
export const SAMPLE_BYTES = 2;
/** RIFF sizes are 32 bit; a longer file (37 h) keeps its samples and declares as many as fit. */
const MAX_DATA_BYTES = 0xffff_fffe - WAV_HEADER_BYTES;
const ZEROS = Buffer.alloc(64 * 1024);

/** The canonical 44-byte header of a 16 kHz mono s16 file of `samples` samples. */
export function wavHeader(samples: number): Buffer {
  const bytes = Math.min(samples * SAMPLE_BYTES, MAX_DATA_BYTES);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(bytes + WAV_HEADER_BYTES - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  header.writeUInt16LE(SAMPLE_BYTES, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}

/** Writes the header for `samples` samples in place. Does not sync. */
export async function writeHeader(handle: FileHandle, samples: number): Promise<void> {
  await writeFully(handle, wavHeader(samples), 0);
}

/** Whole samples that a spool of `fileBytes` bytes holds, whatever its header says. */
export function samplesIn(fileBytes: number): number {
  return Math.max(0, Math.floor((fileBytes - WAV_HEADER_BYTES) / SAMPLE_BYTES));
}

/**
 * Makes the header of a spool agree with the file's size and drops an odd trailing byte; syncs what it changed.
 * @returns the number of samples in the file
 * @throws AmbientError `refused_symlink`; ENOENT
 */
export async function repairHeader(file: string): Promise<number> {
  const handle = await openNoFollow(file, constants.O_RDWR);
  try {
    const { size } = await handle.stat();
    const samples = samplesIn(size);
    const wanted = wavHeader(samples);
    const present = Buffer.alloc(WAV_HEADER_BYTES);
    await readFully(handle, present, 0);
    const length = WAV_HEADER_BYTES + samples * SAMPLE_BYTES;
    if (size === length && present.equals(wanted)) return samples;
    await handle.truncate(length);
    await writeFully(handle, wanted, 0);
    await handle.sync();
    return samples;
  } finally {
    await handle.close();
  }
}

/**
 * Samples `[from, to)` of a spool; fewer when the file ends before `to`.
 * @throws AmbientError `refused_symlink`; ENOENT
 */
export async function readSamples(file: string, from: number, to: number): Promise<Int16Array> {
  const handle = await openNoFollow(file);
  try {
    const wanted = Buffer.alloc(Math.max(0, to - from) * SAMPLE_BYTES);
    const bytes = await readFully(handle, wanted, WAV_HEADER_BYTES + from * SAMPLE_BYTES);
    const samples = new Int16Array(Math.floor(bytes / SAMPLE_BYTES));
    for (let i = 0; i < samples.length; i++) samples[i] = wanted.readInt16LE(i * SAMPLE_BYTES);
    return samples;
  } finally {
    await handle.close();
  }
}

/**
 * Overwrites samples `[from, to)` by silence and syncs. Never makes the file longer, so that a writer that appends
 * to it meanwhile is not disturbed.
 * @returns the number of samples silenced
 * @throws AmbientError `refused_symlink`; ENOENT
 */
export async function zeroSamples(file: string, from: number, to: number): Promise<number> {
  const handle = await openNoFollow(file, constants.O_WRONLY);
  try {
    const end = Math.min(to, samplesIn((await handle.stat()).size));
    const last = WAV_HEADER_BYTES + end * SAMPLE_BYTES;
    let at = WAV_HEADER_BYTES + from * SAMPLE_BYTES;
    while (at < last) {
      const chunk = ZEROS.subarray(0, Math.min(ZEROS.length, last - at));
      await writeFully(handle, chunk, at);
      at += chunk.length;
    }
    await handle.sync();
    return Math.max(0, end - from);
  } finally {
    await handle.close();
  }
}

async function readFully(handle: FileHandle, into: Buffer, position: number): Promise<number> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

async function writeFully(handle: FileHandle, data: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < data.length) done += (await handle.write(data, done, data.length - done, position + done)).bytesWritten;
}
