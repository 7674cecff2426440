import type { FileHandle } from 'node:fs/promises';
import type { Track } from '@ambient/contract';
import { CONTEXT_SAMPLES } from '@ambient/recognizer/protocol';
import { openNoFollow } from '../platform/files.js';
import { type AudioFeed, WAV_HEADER_BYTES } from '../sessions/audio-feed.js';
import type { Session } from '../sessions/types.js';

/** Of every track, Hz. */
const SAMPLE_RATE = 16_000;

/** One track on its way through the recognizer. Survives recognizer restarts: `checkpoint` is where the next one begins. */
export class TrackStream {
  readonly id: number;
  readonly session: Session;
  readonly feed: AudioFeed;
  /** Everything before this sample is published or given up. */
  checkpoint: number;
  /** How far the recognizer has been sent, and has answered for. */
  sent: number;
  acknowledged: number;
  speaking = false;
  /** Turns being recognised now, in order. */
  readonly reading: { readonly from: number; readonly to: number }[] = [];
  finishing = false;
  finished = false;
  /** True while audio is being read and sent; `again`: more may be sent when that ends. */
  pumping = false;
  again = false;
  /** Work on the recognizer's answers, one after the other. */
  tail: Promise<void> = Promise.resolve();
  #handle: FileHandle | undefined;

  constructor(id: number, session: Session, feed: AudioFeed, checkpoint: number) {
    this.id = id;
    this.session = session;
    this.feed = feed;
    this.checkpoint = checkpoint;
    this.sent = checkpoint;
    this.acknowledged = checkpoint;
  }

  get track(): Track {
    return this.feed.track;
  }

  /** Seconds of audio that the recognizer has not answered for. */
  get lagSeconds(): number {
    return this.finished ? 0 : Math.max(0, this.feed.available() - this.acknowledged) / SAMPLE_RATE;
  }

  /** Time of a sample on the session's clock, ms. */
  ms(sample: number): number {
    return Math.round(this.feed.offsetMs + (sample * 1000) / SAMPLE_RATE);
  }

  /** Goes back to the checkpoint, for a fresh recognizer. */
  rewind(): void {
    this.sent = this.checkpoint;
    this.acknowledged = this.checkpoint;
    this.reading.length = 0;
    this.finishing = false;
    this.speaking = false;
  }

  /** The audio just before the checkpoint, s16le. */
  context(): Promise<Uint8Array> {
    return this.read(Math.max(0, this.checkpoint - CONTEXT_SAMPLES), this.checkpoint);
  }

  /** Samples `[from, to)` as s16le; fewer when the file is shorter than it said. */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (to <= from) return new Uint8Array(0);
    this.#handle ??= await openNoFollow(this.feed.path);
    const bytes = new Uint8Array((to - from) * 2);
    let filled = 0;
    let reopened = false;
    while (filled < bytes.byteLength) {
      const { bytesRead } = await this.#handle.read(bytes, filled, bytes.byteLength - filled, WAV_HEADER_BYTES + from * 2 + filled);
      if (bytesRead === 0) {
        if (reopened) break;
        // The recording may go on in a new file at the path, after somebody removed this one.
        reopened = true;
        await this.close();
        this.#handle = await openNoFollow(this.feed.path);
      }
      filled += bytesRead;
    }
    return bytes.subarray(0, filled - (filled % 2));
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
