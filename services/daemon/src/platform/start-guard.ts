import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@ambient/client';
import writeFileAtomic from 'write-file-atomic';
import { type Clock, systemClock } from './clock.js';

/** So many starts in a row without one healthy minute, and the daemon stays down. */
export const MAX_FAILED_STARTS = 5;
/** Starts further apart than this are not in a row, ms. */
export const START_WINDOW_MS = 10 * 60_000;
/** A daemon that ran for this long was healthy, ms. */
const HEALTHY_MS = 60_000;

/**
 * Ends a crash loop under launchd, which restarts for ever. (systemd counts by itself: StartLimitBurst in the unit.)
 * Every start is written down in `service-starts.json`; a healthy minute or a clean stop clears it, and so do
 * `ambientctl daemon start`, `restart` and `install`.
 */
export class StartGuard {
  readonly #file: string;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;

  constructor(home: string, clock: Clock = systemClock) {
    this.#file = path.join(home, 'service-starts.json');
    this.#clock = clock;
  }

  /** Writes this start down. @returns false when the daemon failed too often in a row and should exit 0 with a word about it. */
  async enter(): Promise<boolean> {
    const now = this.#clock.now().getTime();
    const recent = (await this.#starts()).filter((at) => at <= now && now - at < START_WINDOW_MS);
    if (recent.length >= MAX_FAILED_STARTS) return false;
    const starts = [...recent, now].map((at) => new Date(at).toISOString());
    await makeFolder(path.dirname(this.#file));
    await writeFileAtomic(this.#file, `${JSON.stringify({ starts })}\n`, { mode: 0o600 });
    return true;
  }

  /** The daemon works: after a healthy minute the count begins anew. */
  ready(): void {
    this.#timer = setTimeout(() => void this.#clear(), HEALTHY_MS);
    this.#timer.unref();
  }

  /** A clean stop is no failure. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#clear();
  }

  async #clear(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  /** Times of the starts written down, ms since the epoch. A damaged file counts as none: it must not keep a daemon down. */
  async #starts(): Promise<number[]> {
    try {
      const value: unknown = JSON.parse(await readFile(this.#file, 'utf8'));
      if (typeof value !== 'object' || value === null || !('starts' in value) || !Array.isArray(value.starts)) return [];
      return value.starts.map((at) => Date.parse(String(at))).filter((at) => !Number.isNaN(at));
    } catch {
      return [];
    }
  }
}
