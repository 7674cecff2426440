import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { AuditEntry } from '@ambient/contract';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import { openNoFollow, syncDirectory } from '../platform/files.js';

/** Longest line an entry can have, bytes; how far back a reading goes is counted in these. */
const MAX_ENTRY_BYTES = 256;
const NEWLINE = 0x0a;

/**
 * `audit.jsonl`: what clients had done to recordings. Only grows. A `started` entry is on disk before the work begins, so
 * a lone one means that the daemon died in between and the outcome is unknown.
 */
export class AuditLog {
  readonly #dir: string;
  readonly #clock: Clock;
  #handle: FileHandle | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#clock = clock;
  }

  get file(): string {
    return path.join(this.#dir, 'audit.jsonl');
  }

  /** Opens the log and cuts a last line that a crash tore. */
  async start(): Promise<void> {
    if (this.#handle !== undefined) return;
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const handle = await openNoFollow(this.file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
    await handle.chmod(0o600);
    const { size } = await handle.stat();
    const complete = await lastLineEnd(handle, size);
    if (complete < size) await handle.truncate(complete);
    await handle.sync();
    await syncDirectory(this.#dir);
    this.#handle = handle;
  }

  async stop(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Resolves with the operation's id once the entry is on disk. */
  async started(tool: string): Promise<string> {
    const operation = randomUUID();
    await this.#append({ operation, tool, outcome: 'started', at: this.#now() });
    return operation;
  }

  finished(operation: string, tool: string, outcome: 'succeeded' | 'failed'): Promise<void> {
    return this.#append({ operation, tool, outcome, at: this.#now() });
  }

  /** The last `limit` entries, oldest first. */
  async tail(limit: number): Promise<AuditEntry[]> {
    await this.#writing;
    const handle = this.#handle;
    if (handle === undefined) return [];
    const { size } = await handle.stat();
    const from = Math.max(0, size - limit * MAX_ENTRY_BYTES);
    const bytes = Buffer.alloc(size - from);
    await handle.read(bytes, 0, bytes.length, from);
    const lines = bytes.toString('utf8').split('\n');
    if (from > 0) lines.shift();
    return lines.flatMap((line) => parseEntry(line)).slice(-limit);
  }

  #now(): string {
    return isoWithOffset(this.#clock.now());
  }

  #append(entry: AuditEntry): Promise<void> {
    const append = this.#writing.then(async () => {
      const handle = this.#handle;
      if (handle === undefined) throw new Error('The audit log is closed.');
      const { size } = await handle.stat();
      try {
        await handle.appendFile(`${JSON.stringify(entry)}\n`);
        await handle.sync();
      } catch (error) {
        // A half-written entry must not swallow the next one.
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
    });
    this.#writing = append.catch(() => undefined);
    return append;
  }
}

/** Offset after the last newline, searched backwards. */
async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(4096);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - chunk.length);
    await handle.read(chunk, 0, end - from, from);
    const at = chunk.subarray(0, end - from).lastIndexOf(NEWLINE);
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return 0;
}

function parseEntry(line: string): AuditEntry[] {
  if (line === '') return [];
  try {
    return [AuditEntry.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
