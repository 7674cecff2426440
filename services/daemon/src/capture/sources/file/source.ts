import { setTimeout as sleep } from 'node:timers/promises';
import { SAMPLE_RATE, SAMPLES_PER_MS, type Track } from '@ambient/contract';
import type { CaptureListener, CaptureSource, SourceInfo } from '../../source.js';
import { type Decoder, decoderFor } from './backends.js';
import { type FileProbe, probeFile } from './probe.js';

export interface FileRequest {
  /** Absolute path. */
  readonly path: string;
  /** `real`: as a device would hear it; `fast`: as fast as it is taken. */
  readonly pace: 'real' | 'fast';
  /** Play no more than this, samples. */
  readonly limit: number | null;
}

/** Samples given at once: 100 ms. */
const BLOCK = SAMPLE_RATE / 10;

/** Any audio file, played into a track. */
export class FileSource implements CaptureSource {
  readonly track: Track;
  readonly kind = 'file';
  readonly #request: FileRequest;
  readonly #nowMs: () => number;
  #playing: Promise<void> | undefined;
  #stop: AbortController | undefined;

  constructor(track: Track, request: FileRequest, nowMs: () => number) {
    this.track = track;
    this.#request = request;
    this.#nowMs = nowMs;
  }

  async start(listener: CaptureListener): Promise<SourceInfo> {
    const probe = await probeFile(this.#request.path);
    const stop = new AbortController();
    this.#stop = stop;
    this.#playing = this.#play(probe, listener, stop.signal);
    return { recorder: null, device: this.#request.path };
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    await this.#playing;
  }

  abort(): void {
    this.#stop?.abort();
  }

  async verify(): Promise<null> {
    return null;
  }

  async #play(probe: FileProbe, listener: CaptureListener, stop: AbortSignal): Promise<void> {
    const decoder = decoderFor(probe, 1);
    try {
      await listener.ready();
      const whole = await this.#deliver(decoder, listener, stop);
      if (stop.aborted) return;
      const shortfall = whole ? decoder.shortfall() : null;
      if (shortfall !== null) listener.died({ reason: 'recorder_died', message: shortfall });
      else listener.ended();
    } catch (error) {
      if (!stop.aborted) listener.died({ reason: 'recorder_died', message: (error as Error).message });
    }
  }

  /** @returns false when it ended before the file did */
  async #deliver(decoder: Decoder, listener: CaptureListener, stop: AbortSignal): Promise<boolean> {
    if (stop.aborted) return false;
    const { pace, limit } = this.#request;
    const beganMs = this.#nowMs();
    let given = 0;
    for await (const pcm of decoder.blocks()) {
      for (let at = 0; at < pcm.length; at += BLOCK * 2) {
        const block = pcm.subarray(at, Math.min(pcm.length, at + BLOCK * 2, at + ((limit ?? Number.POSITIVE_INFINITY) - given) * 2));
        if (block.length === 0) return false;
        given += block.length / 2;
        if (pace === 'real') await pause(beganMs + given / SAMPLES_PER_MS - this.#nowMs(), stop);
        else await listener.ready();
        if (stop.aborted) return false;
        listener.samples(block);
      }
    }
    return true;
  }
}

/** A block is given when its last sample would have been heard. */
async function pause(ms: number, stop: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
}
