import type { Config, Warning } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import { diskState, freeMiB } from './disk-watch.js';

interface MonitorDeps {
  /** The folder that holds session folders. */
  readonly dir: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  config<K extends keyof Config>(key: K): Config[K];
}

/** Free space is looked at this often while nobody asks, ms. */
const LOOK_MS = 10_000;

/** Says when the disk gets full, whether or not anything records: the next recording is what it would cost. */
export class DiskMonitor {
  readonly #deps: MonitorDeps;
  #warning: Warning | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks now. @returns what is wrong with the disk, or null; never throws */
  async look(): Promise<Warning | null> {
    const { dir, bus, clock, logger, config } = this.#deps;
    const free = await freeMiB(dir).catch(() => null);
    if (free === null) return this.#warning;
    const state = diskState(free, config('disk.low_mb'), config('disk.stop_mb'));
    if (state === 'ok') {
      if (this.#warning !== null) logger.info({ free_mib: Math.round(free) }, 'the disk has space again');
      this.#warning = null;
      return null;
    }
    const code = `disk_${state}`;
    const words = wordsFor(state, Math.round(free), config('disk.stop_mb'));
    if (this.#warning?.code === code) {
      this.#warning = { ...this.#warning, ...words };
      return this.#warning;
    }
    const warning: Warning = { code, ...words, at: isoWithOffset(clock.now()) };
    this.#warning = warning;
    logger.warn({ code, free_mib: Math.round(free) }, warning.message);
    bus.emit({ type: 'warning', session: null, warning });
    return warning;
  }
}

function wordsFor(state: 'low' | 'full', free: number, stop: number): { message: string; hint: string } {
  const where = `${free} MiB are free on the disk that holds the sessions`;
  return state === 'full'
    ? { message: `Only ${where}: nothing is recorded.`, hint: 'Free some space; what is not yet transcribed goes on by itself then.' }
    : { message: `Only ${where}; a recording stops at ${stop} MiB.`, hint: 'Free some space, or shorten `audio_retention_days`.' };
}
