import { type Check, check } from '@ambient/contract';
import { type Clock, isoWithOffset } from '../platform/clock.js';

const ID = 'clock';
const TITLE = 'Clock';
/** A difference of less than this is a clock that was set right by the network, ms. */
const STEP_MS = 5000;
/** No recording is older than this program: an earlier time is a clock that was never set. */
const EARLIEST = Date.UTC(2025, 0, 1);

interface Reading {
  readonly wallMs: number;
  /** Null where sleep cannot be told from a step. */
  readonly bootMs: number | null;
}

/** Sees steps of the wall clock, by a clock that only goes forward and goes on during sleep. */
export class ClockWatch {
  readonly #clock: Clock;
  #first: Reading | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    this.#first = this.#read();
  }

  check(): Check {
    const now = this.#clock.now();
    if (now.getTime() < EARLIEST)
      return check.failure(ID, TITLE, `The computer believes that it is ${isoWithOffset(now)}.`, `Set the time: ${settings()}.`);
    const stepMs = this.#stepMs();
    if (Math.abs(stepMs) >= STEP_MS) {
      const detail = `The time was set ${stepMs > 0 ? 'forward' : 'back'} by ${words(Math.abs(stepMs))} while the daemon ran; it is ${isoWithOffset(now)}.`;
      const fix = `See that the time is right: ${settings()}. Order and durations are not touched; \`ambientctl daemon restart\` ends this warning.`;
      return check.warning(ID, TITLE, detail, fix);
    }
    const zone = timezone();
    if (zone === null) {
      const named =
        process.env.TZ === undefined ? 'The system names no time zone that exists' : `TZ is ${process.env.TZ}, which is no time zone`;
      const fix = 'Choose the time zone (`timedatectl set-timezone Europe/Berlin`, or unset TZ), then run `ambientctl daemon restart`.';
      return check.warning(ID, TITLE, `${named}: sessions are named by UTC.`, fix);
    }
    return check.ok(ID, TITLE, `${isoWithOffset(now)} (${zone}).`);
  }

  #stepMs(): number {
    const [first, now] = [this.#first, this.#read()];
    if (first === undefined || first.bootMs === null || now.bootMs === null) return 0;
    return now.wallMs - first.wallMs - (now.bootMs - first.bootMs);
  }

  #read(): Reading {
    return { wallMs: this.#clock.now().getTime(), bootMs: this.#clock.sinceBootMs?.() ?? null };
  }
}

/** This process's time zone as its IANA name, or null when the system names none that exists. */
export function timezone(): string | null {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  return timeZone === undefined || timeZone === 'Etc/Unknown' ? null : timeZone;
}

function settings(): string {
  return process.platform === 'darwin' ? 'System Settings → General → Date & Time' : '`timedatectl status`';
}

function words(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
