import type { DoctorReport } from '@ambient/contract';
import type { ModelFiles } from '@ambient/recognizer/protocol';
import type { Clock } from '../platform/clock.js';
import type { Transcriber } from '../transcription/types.js';
import { type CheckDeps, daemonChecks } from './checks.js';
import { ClockWatch, timezone } from './clock.js';
import { RecognizerTest } from './recognizer.js';
import { RecorderTest } from './recorder-test.js';
import { runChecks } from './run-checks.js';

export interface DoctorDeps extends Omit<CheckDeps, 'clockWatch' | 'recorderTest' | 'recognizerTest'> {
  readonly clock: Clock;
  readonly transcriber: Pick<Transcriber, 'recognizer' | 'lagSeconds'>;
  readonly resolveModel: (name: string) => Promise<ModelFiles>;
}

/** Examines what only the daemon can see. */
export class Doctor {
  readonly #deps: DoctorDeps;
  readonly #clockWatch: ClockWatch;
  readonly #recorderTest: RecorderTest;
  readonly #recognizerTest: RecognizerTest;
  #running: Promise<DoctorReport> | undefined;

  constructor(deps: DoctorDeps) {
    this.#deps = deps;
    this.#clockWatch = new ClockWatch(deps.clock);
    this.#recorderTest = new RecorderTest(deps);
    this.#recognizerTest = new RecognizerTest({ ...deps, recording: () => deps.recorder.live() !== null });
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
    const [recorderTest, recognizerTest, clockWatch] = [this.#recorderTest, this.#recognizerTest, this.#clockWatch];
    const checks = await runChecks(daemonChecks({ ...this.#deps, clockWatch, recorderTest, recognizerTest }));
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
