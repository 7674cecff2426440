import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { openNoFollow, readNoFollow, syncDirectory } from '../platform/files.js';
import { asDiskFull, FILE_MODE, replaceFile } from './atomic-file.js';
import { fingerprint, NO_FILE, printOf } from './file-stat.js';

const NEWLINE = 0x0a;

/** What a log holds, and what a crash did to its end. */
export interface LogContent<T> {
  /** One entry a line. Undefined for a line that another version wrote or a disk fault spoilt: its place is kept. */
  readonly entries: readonly (T | undefined)[];
  /** Bytes up to the end of the last whole line; what follows is torn. */
  readonly wholeBytes: number;
  /** True when the last whole line lacks only its newline. */
  readonly lacksNewline: boolean;
  /** Numbers from 1 of the lines among `entries` that are no JSON object, which no version writes. */
  readonly garbage: readonly number[];
  /** Lines, whole or not, after the last whole one. */
  readonly tornLines: number;
}

/**
 * Reads an append-only log. The end that a crash tore (no newline, or no JSON) is left out; a last line that is complete
 * but for its newline counts. Lines before the end are never dropped, so line numbers hold.
 */
export function parseLog<T>(bytes: Buffer, schema: z.ZodType<T>): LogContent<T> {
  const entries: (T | undefined)[] = [];
  const garbage: number[] = [];
  let whole = { entries: 0, bytes: 0, lacksNewline: false };
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline;
    const next = newline === -1 ? bytes.length : newline + 1;
    const text = bytes.toString('utf8', at, end);
    at = next;
    if (text.trim() === '') continue;
    const json = parseJson(text);
    const parsed = schema.safeParse(json);
    entries.push(parsed.success ? parsed.data : undefined);
    if (json === undefined) garbage.push(entries.length);
    else whole = { entries: entries.length, bytes: next, lacksNewline: newline === -1 };
  }
  return {
    entries: entries.slice(0, whole.entries),
    wholeBytes: whole.bytes,
    lacksNewline: whole.lacksNewline,
    garbage: garbage.filter((line) => line <= whole.entries),
    tornLines: entries.length - whole.entries,
  };
}

/** The object a line holds; undefined for anything else. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Cache<T> extends LogContent<T> {
  readonly fingerprint: string;
  readonly size: number;
}

/** An append-only file of JSON lines. Its owner serialises all calls. */
export class JsonlLog<T extends object> {
  readonly #file: string;
  readonly #schema: z.ZodType<T>;
  readonly #remembers: boolean;
  #cache: Cache<T> | undefined;

  /** @param remembers what was read or written counts even after the file was taken away, until `restore` makes it again */
  constructor(file: string, schema: z.ZodType<T>, remembers = false) {
    this.#file = file;
    this.#schema = schema;
    this.#remembers = remembers;
  }

  /**
   * Every whole line. The same array as before when nothing changed.
   * @throws AmbientError `refused_symlink`
   */
  async read(): Promise<readonly (T | undefined)[]> {
    return (await this.#load()).entries;
  }

  /** The same with what was found at its end; the same object as before when nothing changed. */
  content(): Promise<LogContent<T>> {
    return this.#load();
  }

  /**
   * Adds one line in one write and syncs it. A torn end is cut first.
   * @returns the line's index from 0
   * @throws AmbientError `refused_symlink`, `disk_full`; the file then is as it was before
   */
  async append(entry: T): Promise<number> {
    await this.restore();
    await this.repair();
    const { entries, garbage, size } = await this.#load();
    const data = Buffer.from(`${JSON.stringify(entry)}\n`);
    const handle = await openNoFollow(this.#file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, FILE_MODE);
    try {
      await this.#write(handle, data, size);
      const total = size + data.length;
      this.#cache = {
        entries: [...entries, entry],
        wholeBytes: total,
        lacksNewline: false,
        garbage,
        tornLines: 0,
        size: total,
        fingerprint: printOf(await handle.stat({ bigint: true })),
      };
    } finally {
      await handle.close();
    }
    if (entries.length === 0) await syncDirectory(path.dirname(this.#file));
    return entries.length;
  }

  async #write(handle: FileHandle, data: Buffer, sizeBefore: number): Promise<void> {
    this.#cache = undefined;
    try {
      const { bytesWritten } = await handle.write(data);
      if (bytesWritten < data.length) throw Object.assign(new Error(`${bytesWritten} of ${data.length} bytes fit`), { code: 'ENOSPC' });
      await handle.sync();
    } catch (error) {
      await handle.truncate(sizeBefore).catch(() => {});
      throw asDiskFull(error);
    }
  }

  /**
   * Cuts a torn end and ends the last line, and syncs what it changed.
   * @returns the number of bytes cut
   * @throws AmbientError `refused_symlink`
   */
  async repair(): Promise<number> {
    const { wholeBytes, lacksNewline, size } = await this.#load();
    if (size === wholeBytes && !lacksNewline) return 0;
    this.#cache = undefined;
    const handle = await openNoFollow(this.#file, constants.O_WRONLY | constants.O_APPEND);
    try {
      await handle.truncate(wholeBytes);
      if (lacksNewline) await handle.write('\n');
      await handle.sync();
    } finally {
      await handle.close();
    }
    return size - wholeBytes;
  }

  /**
   * Replaces lines in place, atomically; the number of lines stays. For striking only: everything else appends.
   * `change` gets each entry with its index and returns the same object to keep the line's bytes.
   * @returns indices of the changed lines
   */
  async rewrite(change: (entry: T, index: number) => T): Promise<readonly number[]> {
    const { entries, wholeBytes } = await this.#load();
    const changed = entries.flatMap((entry, index) => {
      const next = entry && change(entry, index);
      return next === undefined || next === entry ? [] : [[index, JSON.stringify(next)] as const];
    });
    if (changed.length === 0) return [];
    const bytes = (await readNoFollow(this.#file)) ?? Buffer.alloc(0);
    const lines = bytes
      .toString('utf8', 0, wholeBytes)
      .split('\n')
      .filter((line) => line.trim() !== '');
    for (const [index, line] of changed) lines[index] = line;
    await replaceFile(this.#file, `${lines.join('\n')}\n`);
    this.#cache = undefined;
    return changed.map(([index]) => index);
  }

  /**
   * Makes a file that was taken away again, as far as it is remembered.
   * @returns whether it was missing
   */
  async restore(): Promise<boolean> {
    if (!this.#isTakenAway(await fingerprint(this.#file))) return false;
    const { entries } = await this.#load();
    // A line that could not be read keeps its place.
    await replaceFile(this.#file, entries.map((entry) => `${JSON.stringify(entry ?? {})}\n`).join(''));
    return true;
  }

  #isTakenAway(print: string): boolean {
    return this.#remembers && print === NO_FILE && this.#cache !== undefined && this.#cache.entries.length > 0;
  }

  async #load(): Promise<Cache<T>> {
    const print = await fingerprint(this.#file);
    if (this.#cache !== undefined && (this.#cache.fingerprint === print || this.#isTakenAway(print))) return this.#cache;
    const bytes = (await readNoFollow(this.#file)) ?? Buffer.alloc(0);
    this.#cache = { ...parseLog(bytes, this.#schema), fingerprint: print, size: bytes.length };
    return this.#cache;
  }
}
