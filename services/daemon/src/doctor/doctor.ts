import type { Check, DoctorReport } from '@ambient/contract';
import type { Clock } from '../platform/clock.js';
import { type CheckDeps, daemonChecks } from './checks.js';
import { ClockWatch, timezone } from './clock.js';
import { RecorderTest } from './recorder-test.js';

/** Looks at one matter. Never throws for what it looks for. */
export type DoctorCheck = () => Promise<Check | readonly Check[]> | Check | readonly Check[];

export interface DoctorDeps extends Omit<CheckDeps, 'clockWatch' | 'recorderTest'> {
  readonly clock: Clock;
}

/** A check that takes longer is a failure of its own, ms. Four recorders that hang one after the other take 10 s. */
const CHECK_LIMIT_MS = 45_000;

/** Examines what only the daemon can see. */
export class Doctor {
  readonly #deps: DoctorDeps;
  readonly #clockWatch: ClockWatch;
  readonly #recorderTest: RecorderTest;
  #running: Promise<DoctorReport> | undefined;

  constructor(deps: DoctorDeps) {
    this.#deps = deps;
    this.#clockWatch = new ClockWatch(deps.clock);
    this.#recorderTest = new RecorderTest(deps);
  }

  /** Notes the time, for steps of the clock to be seen against. */
  start(): void {
    this.#clockWatch.start();
  }

  /** Who asks while it runs is given the same report: a device is not opened twice. */
  examine(): Promise<DoctorReport> {
    this.#running ??= this.#examine().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #examine(): Promise<DoctorReport> {
    const recorderTest = this.#recorderTest;
    const checks = await runChecks(daemonChecks({ ...this.#deps, clockWatch: this.#clockWatch, recorderTest }));
    const facts = {
      executable: process.execPath,
      launched_as: process.env.__CFBundleIdentifier ?? null,
      timezone: timezone(),
      utc_offset_min: -new Date().getTimezoneOffset(),
      silent: [...recorderTest.silent],
    };
    return { checks, healthy: checks.every(({ status }) => status !== 'failure'), facts };
  }
}

/** Runs all checks at once and gives their results in order. One that breaks is a failure that names itself, not the end of the others. */
export async function runChecks(checks: Readonly<Record<string, DoctorCheck>>): Promise<Check[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([id, look]): Promise<readonly Check[]> => {
      try {
        const result = await withLimit(Promise.resolve(look()));
        return 'id' in result ? [result] : result;
      } catch (error) {
        const detail = `The check itself failed: ${(error as Error).message}.`;
        return [{ id, title: id, status: 'failure', detail, fix: 'See `ambientctl daemon logs`.' }];
      }
    }),
  );
  return found.flat();
}

function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS / 1000} s`)), CHECK_LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
