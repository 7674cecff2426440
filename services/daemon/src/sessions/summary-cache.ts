import path from 'node:path';
import type { SessionSummary } from '@ambient/contract';
import { fingerprint } from './file-stat.js';
import { idTime } from './session-id.js';
import { brokenRow } from './summary-row.js';

/** What a session's row and its index entries are made from. */
const SOURCES = ['session.json', 'raw.jsonl', 'edits.jsonl', 'audio'];
const PARALLEL = 32;
/** Looking for changes made by others may take this share of the time, but none stays unseen longer than this; own changes are known at once. */
const CHECK_SHARE = 0.05;
const CHECK_AT_LEAST_MS = 5000;

interface Entry {
  readonly fingerprint: string;
  readonly summary: SessionSummary;
}

/** Rows of sessions, read anew only when a file of the session has changed. */
export class SummaryCache {
  readonly #dir: string;
  readonly #read: (id: string, touched: boolean) => Promise<SessionSummary>;
  readonly #entries = new Map<string, Entry>();
  /** Reads under way; one whose session changes meanwhile is not kept. */
  readonly #reads = new Map<string, Promise<SessionSummary>>();
  #trustUntil = 0;

  /** @param read `touched`: a file of the session was changed since it was last read, by somebody else most likely */
  constructor(dir: string, read: (id: string, touched: boolean) => Promise<SessionSummary>) {
    this.#dir = dir;
    this.#read = read;
  }

  /** Rows of `ids`, newest first; those without a start time last. */
  async list(ids: readonly string[]): Promise<readonly SessionSummary[]> {
    const present = new Set(ids);
    for (const id of this.#entries.keys()) if (!present.has(id)) this.#entries.delete(id);
    const prints = await this.#check(ids);
    const rows = await mapParallel(ids, async (id, i) => {
      const known = this.#entries.get(id);
      // A recording changes all the time, and a broken folder may be one that is being copied in.
      const steady = known && !known.summary.live && known.summary.state !== 'broken';
      return steady && (prints === undefined || prints[i] === known.fingerprint) ? known.summary : this.get(id);
    });
    const times = new Map(rows.map((row) => [row, placeInTime(row)]));
    return rows.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0) || (a.id < b.id ? 1 : -1));
  }

  async get(id: string): Promise<SessionSummary> {
    const print = await this.fingerprint(id);
    const known = this.#entries.get(id);
    if (known?.fingerprint === print && !known.summary.live) return known.summary;
    const read = this.#read(id, known !== undefined && known.fingerprint !== print).catch((error: unknown) =>
      brokenRow(path.join(this.#dir, id), error),
    );
    this.#reads.set(id, read);
    const summary = await read;
    if (this.#reads.get(id) === read) {
      this.#reads.delete(id);
      this.#entries.set(id, { fingerprint: print, summary });
    }
    return summary;
  }

  forget(id: string): void {
    this.#entries.delete(id);
    this.#reads.delete(id);
  }

  async fingerprint(id: string): Promise<string> {
    return (await Promise.all(SOURCES.map((name) => fingerprint(path.join(this.#dir, id, name))))).join(' ');
  }

  /** Fingerprints of `ids` when it is time to look at them again. */
  async #check(ids: readonly string[]): Promise<string[] | undefined> {
    const begin = performance.now();
    if (begin < this.#trustUntil) return undefined;
    const prints = await mapParallel(ids, (id) => this.fingerprint(id));
    const end = performance.now();
    this.#trustUntil = end + Math.min((end - begin) / CHECK_SHARE, CHECK_AT_LEAST_MS);
    return prints;
  }
}

/** By which rows are sorted, ms since the epoch. */
export function placeInTime(row: SessionSummary): number {
  const time = Date.parse(row.sorted_at ?? row.started_at ?? '');
  return Number.isNaN(time) ? (idTime(row.id) ?? 0) : time;
}

async function mapParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T, i);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
  return results;
}
