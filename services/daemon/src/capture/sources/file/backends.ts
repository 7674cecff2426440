import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { SAMPLE_RATE } from '@ambient/contract';
import { FORMAT_BYTES, toS16 } from './pcm.js';
import { type FileProbe, firstComplaint, LOCAL_ONLY } from './probe.js';
import type { WavLayout } from './wav-reader.js';

/** A file as samples. */
export interface Decoder {
  /**
   * Whole frames of interleaved s16le at 16 kHz; reads no faster than it is asked. To be run once.
   * @throws Error when nothing more can be read
   */
  blocks(): AsyncGenerator<Buffer, void, void>;
  /** After the end: why the file holds less than it should, or null. */
  shortfall(): string | null;
}

const READ_BYTES = 64 * 1024;
/** A decoded length this much under the declared one is a truncated file, seconds and share. */
const SHORT_S = 1;
const SHORT_SHARE = 0.02;
const TAIL_CHARS = 4000;

/** @param channels 1 mixes all channels; 2 keeps the first two, a single one twice */
export function decoderFor(probe: FileProbe, channels: 1 | 2): Decoder {
  return probe.wav !== null ? new WavDecoder(probe.path, probe.wav, channels) : new FfmpegDecoder(probe, channels);
}

/** Says how many seconds are not there; null when none is missing. */
function shortBy(seconds: number): string | null {
  if (seconds <= 0) return null;
  return `${seconds < 10 ? Math.ceil(seconds * 10) / 10 : Math.round(seconds)} s at its end are missing`;
}

/** Reads plain 16 kHz WAV files without any other program. */
class WavDecoder implements Decoder {
  readonly #path: string;
  readonly #wav: WavLayout;
  readonly #channels: 1 | 2;

  constructor(path: string, wav: WavLayout, channels: 1 | 2) {
    this.#path = path;
    this.#wav = wav;
    this.#channels = channels;
  }

  async *blocks(): AsyncGenerator<Buffer, void, void> {
    const { dataStart, dataBytes, format, channels } = this.#wav;
    const frame = FORMAT_BYTES[format] * channels;
    const step = Math.max(1, Math.floor(READ_BYTES / frame)) * frame;
    const handle = await open(this.#path, 'r');
    try {
      for (let done = 0; done < dataBytes; ) {
        const buffer = Buffer.allocUnsafe(Math.min(step, dataBytes - done));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, dataStart + done);
        const whole = bytesRead - (bytesRead % frame);
        if (whole === 0) break;
        done += whole;
        yield toS16(buffer.subarray(0, whole), format, channels, this.#channels);
      }
    } finally {
      await handle.close();
    }
  }

  shortfall(): string | null {
    return shortBy(this.#wav.missingS);
  }
}

/** Everything that ffmpeg reads. */
class FfmpegDecoder implements Decoder {
  readonly #probe: FileProbe;
  readonly #channels: 1 | 2;
  #stderr = '';
  #failed = false;
  #frames = 0;

  constructor(probe: FileProbe, channels: 1 | 2) {
    this.#probe = probe;
    this.#channels = channels;
  }

  async *blocks(): AsyncGenerator<Buffer, void, void> {
    const { path, ffmpeg } = this.#probe;
    const args = ['-nostdin', '-v', 'error', ...LOCAL_ONLY, '-i', `file:${path}`, '-map', '0:a:0', ...this.#mapping()];
    const child = spawn(ffmpeg ?? 'ffmpeg', [...args, '-f', 's16le', '-ar', String(SAMPLE_RATE), 'pipe:1'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    let broken: Error | undefined;
    child.once('error', (error) => {
      broken = error;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(0, TAIL_CHARS);
    });
    const frame = 2 * this.#channels;
    let rest: Buffer = Buffer.alloc(0);
    try {
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        const whole = bytes.length - (bytes.length % frame);
        rest = bytes.subarray(whole);
        this.#frames += whole / frame;
        if (whole > 0) yield bytes.subarray(0, whole);
      }
      this.#failed = (await closed) !== 0;
      if (broken !== undefined) throw broken;
    } finally {
      child.kill('SIGKILL');
    }
  }

  shortfall(): string | null {
    const words = firstComplaint(this.#stderr, this.#probe.path);
    if (this.#failed) return words === '' ? 'ffmpeg failed' : words;
    const { durationS, missingS } = this.#probe;
    if (missingS > 0) return shortBy(missingS);
    const missing = durationS === null ? 0 : durationS - this.#frames / SAMPLE_RATE;
    if (durationS !== null && missing > Math.max(SHORT_S, durationS * SHORT_SHARE)) return shortBy(missing);
    return words === '' ? null : words;
  }

  #mapping(): readonly string[] {
    if (this.#channels === 1) return ['-ac', '1'];
    return this.#probe.channels === 1 ? ['-ac', '2'] : ['-af', 'pan=stereo|c0=c0|c1=c1'];
  }
}
