import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Track } from '@ambient/contract';
import { syncDirectory } from '../platform/files.js';
import { type AudioFeed, WAV_HEADER_BYTES } from '../sessions/audio-feed.js';
import { fileStat } from '../sessions/file-stat.js';
import { SAMPLE_BYTES, writeHeader } from '../sessions/wav.js';

interface SpoolOptions {
  readonly track: Track;
  /** The WAV file to make; an older one of that name is replaced. */
  readonly path: string;
  /** Time of sample 0 on the session's clock, ms. */
  readonly offsetMs: number;
  /** Called once when nothing more can be written (disk full, folder gone). */
  onFailure(error: NodeJS.ErrnoException): void;
}

/** Header and samples are made durable this often, ms: with the recorder's own delay it stays under a second. */
const SYNC_MS = 700;
/** Bytes that may wait for the disk: 17 minutes. Beyond it, what comes is kept as silence of the same length. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const MAX_WRITE_BYTES = 256 * 1024;
/** A longer silence becomes a hole in the file. */
const ZEROS = Buffer.alloc(64 * 1024);

const COPY_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(COPY_BYTES);

type Piece = Buffer | { silence: number };

/**
 * Writes one track to disk behind a queue, so that whoever delivers samples never waits, and tells readers how far
 * they may read. The header is true up to the last second at any moment.
 */
export class TrackSpool implements AudioFeed {
  readonly track: Track;
  readonly path: string;
  readonly offsetMs: number;
  readonly #onFailure: SpoolOptions['onFailure'];
  readonly #listeners = new Set<() => void>();
  #handle: FileHandle | undefined;
  #timer: NodeJS.Timeout | undefined;
  #queue: Piece[] = [];
  #waitingBytes = 0;
  #taken = 0;
  #written = 0;
  #synced = 0;
  #lastSync = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #syncing: Promise<void> | undefined;
  #waiters: { below: number; go: () => void }[] = [];
  #failed = false;
  #ended = false;

  constructor(options: SpoolOptions) {
    this.track = options.track;
    this.path = options.path;
    this.offsetMs = options.offsetMs;
    this.#onFailure = options.onFailure;
  }

  /** Makes the file. @throws the file system's error */
  async start(): Promise<void> {
    await mkdir(path.dirname(this.path), { recursive: true, mode: 0o700 });
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const handle = await open(this.path, flags, 0o600);
    try {
      await writeHeader(handle, 0);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
    this.#timer = setInterval(() => this.#kick(), SYNC_MS);
  }

  /** Samples taken so far, on disk or waiting. */
  get taken(): number {
    return this.#taken;
  }

  /** Bytes waiting for the disk. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  append(pcm: Buffer): void {
    if (this.#waitingBytes + pcm.length > MAX_WAITING_BYTES) {
      this.silence(pcm.length / SAMPLE_BYTES);
      return;
    }
    this.#taken += pcm.length / SAMPLE_BYTES;
    this.#waitingBytes += pcm.length;
    this.#queue.push(pcm);
    this.#kick();
  }

  /** Adds `samples` samples of silence. */
  silence(samples: number): void {
    if (samples <= 0) return;
    this.#taken += samples;
    const last = this.#queue.at(-1);
    if (last !== undefined && !Buffer.isBuffer(last)) last.silence += samples;
    else this.#queue.push({ silence: samples });
    this.#kick();
  }

  /** Resolves when at most `bytes` bytes wait for the disk, or nothing more can be written. */
  async drained(bytes: number): Promise<void> {
    if (this.#failed || this.#waitingBytes <= bytes) return;
    await new Promise<void>((go) => this.#waiters.push({ below: bytes, go }));
  }

  /** False when the file at the path is not the one being written: somebody moved or removed that. */
  async isInPlace(): Promise<boolean> {
    if (this.#handle === undefined || this.#failed) return true;
    const [there, here] = await Promise.all([fileStat(this.path), this.#handle.stat({ bigint: true })]);
    return there?.ino === here.ino && there.dev === here.dev;
  }

  /** Makes the file at the path again from the open one, and goes on there. @throws the file system's error; then all is as before */
  async restore(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    const handle = this.#handle;
    if (handle === undefined || this.#failed) return;
    const copying = this.#copy(handle);
    this.#working = copying
      .catch(() => {})
      .finally(() => {
        this.#working = undefined;
        this.#kick();
      });
    await copying;
  }

  /** Writes and syncs everything taken, with its final header, and closes the file. Readers are told by `end`. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#working !== undefined || (this.#queue.length > 0 && !this.#failed && this.#handle !== undefined)) {
      this.#kick();
      await this.#working;
    }
    await this.#syncing;
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle === undefined) return;
    try {
      // After a failed write a torn sample may stand at the end.
      if (this.#failed) await handle.truncate(WAV_HEADER_BYTES + this.#written * SAMPLE_BYTES);
      await writeHeader(handle, this.#written);
      await handle.datasync();
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
    } finally {
      await handle.close();
    }
  }

  /** No more samples will come. */
  end(): void {
    this.#ended = true;
    this.#tell();
  }

  available(): number {
    return this.#written;
  }

  ended(): boolean {
    return this.#ended;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #kick(): void {
    if (this.#working !== undefined || this.#failed || this.#handle === undefined) return;
    this.#working = this.#work(this.#handle)
      .catch((error: NodeJS.ErrnoException) => this.#fail(error))
      .finally(() => {
        this.#working = undefined;
        // What came between the last look at the queue and here.
        if (this.#queue.length > 0) this.#kick();
      });
  }

  async #work(handle: FileHandle): Promise<void> {
    if (this.#written === 0) this.#lastSync = performance.now();
    for (;;) {
      const piece = this.#next();
      if (piece === undefined) break;
      if (Buffer.isBuffer(piece)) await this.#write(handle, piece);
      else await this.#writeSilence(handle, piece.silence);
      this.#tell();
      this.#syncIfDue(handle, SYNC_MS);
    }
    // What there is at first is synced at once, and all of it: it may be as old as the opening of the slowest device takes.
    if (this.#synced !== this.#written) this.#syncIfDue(handle, this.#synced === 0 ? 0 : SYNC_MS * 0.9);
  }

  /** Beside the writes: while a disk is slow to sync, what is only written already outlives this process. */
  #syncIfDue(handle: FileHandle, afterMs: number): void {
    if (this.#syncing !== undefined || performance.now() - this.#lastSync < afterMs) return;
    this.#syncing = this.#sync(handle)
      .catch((error: NodeJS.ErrnoException) => this.#fail(error))
      .finally(() => {
        this.#syncing = undefined;
      });
  }

  /** The next silence, or the next samples joined up to one good write. */
  #next(): Piece | undefined {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (const piece of this.#queue) {
      if (!Buffer.isBuffer(piece) || (bytes > 0 && bytes + piece.length > MAX_WRITE_BYTES)) break;
      parts.push(piece);
      bytes += piece.length;
    }
    if (parts.length === 0) return this.#queue.shift();
    this.#queue.splice(0, parts.length);
    return parts.length === 1 ? parts[0] : Buffer.concat(parts, bytes);
  }

  async #write(handle: FileHandle, data: Buffer): Promise<void> {
    const from = WAV_HEADER_BYTES + this.#written * SAMPLE_BYTES;
    let done = 0;
    try {
      while (done < data.length) done += (await handle.write(data, done, data.length - done, from + done)).bytesWritten;
    } finally {
      this.#written += Math.floor(done / SAMPLE_BYTES);
      this.#waitingBytes -= data.length;
      const ready = this.#waiters.filter(({ below }) => this.#waitingBytes <= below);
      this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
      for (const { go } of ready) go();
    }
  }

  async #writeSilence(handle: FileHandle, samples: number): Promise<void> {
    const bytes = samples * SAMPLE_BYTES;
    const from = WAV_HEADER_BYTES + this.#written * SAMPLE_BYTES;
    if (bytes > ZEROS.length) await handle.truncate(from + bytes);
    else await handle.write(ZEROS, 0, bytes, from);
    this.#written += samples;
  }

  async #copy(from: FileHandle): Promise<void> {
    await this.#syncing;
    await mkdir(path.dirname(this.path), { recursive: true, mode: 0o700 });
    const temporary = `${this.path}.part`;
    const to = await open(temporary, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600);
    try {
      const end = WAV_HEADER_BYTES + this.#written * SAMPLE_BYTES;
      const buffer = Buffer.alloc(COPY_BYTES);
      for (let at = 0; at < end; ) {
        const { bytesRead } = await from.read(buffer, 0, Math.min(COPY_BYTES, end - at), at);
        if (bytesRead === 0) break;
        const chunk = buffer.subarray(0, bytesRead);
        // Long silences are holes again.
        if (!chunk.equals(NOTHING.subarray(0, bytesRead))) await to.write(chunk, 0, bytesRead, at);
        at += bytesRead;
      }
      await to.truncate(end);
      await writeHeader(to, this.#written);
      await to.datasync();
      await rename(temporary, this.path);
      await syncDirectory(path.dirname(this.path));
    } catch (error) {
      await to.close();
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
    this.#handle = to;
    await from.close();
  }

  async #sync(handle: FileHandle): Promise<void> {
    const samples = this.#written;
    this.#lastSync = performance.now();
    await writeHeader(handle, samples);
    await handle.datasync();
    this.#synced = samples;
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#queue = [];
    this.#waitingBytes = 0;
    for (const { go } of this.#waiters.splice(0)) go();
    this.#onFailure(error);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
