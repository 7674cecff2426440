import { type RecorderOptions, RecorderProcess } from './recorder-process.js';
import type { CaptureListener, SourceDeath } from './source.js';

/** No recorder of a chain gave samples; the message joins the reasons of all. */
export class NoRecorderError extends Error {
  override readonly name = 'NoRecorderError';
}

/** Tries recorders in order and keeps the first that gives samples. */
export class RecorderChain {
  readonly #firstSamplesMs: number;
  #process: RecorderProcess | undefined;
  /** The start that is under way or has succeeded; a newer start, `stop` and `abort` make it void. */
  #run: symbol | undefined;

  /** @param firstSamplesMs a recorder that gives nothing for this long is passed over, ms */
  constructor(firstSamplesMs: number) {
    this.#firstSamplesMs = firstSamplesMs;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Announces a start, so that a `stop` that comes before its recorders are known holds for it too. */
  begin(): symbol {
    this.#run = Symbol('run');
    return this.#run;
  }

  /**
   * @param run what `begin` gave
   * @param judge looks at each line of the recorder's stderr and says when it must not go on
   * @returns the recorder that works
   * @throws NoRecorderError
   */
  async start(
    run: symbol,
    backends: readonly RecorderOptions[],
    listener: CaptureListener,
    judge: (line: string) => SourceDeath | null = () => null,
  ): Promise<RecorderOptions> {
    const reasons: string[] = [];
    for (const backend of backends) {
      if (this.#run !== run) throw new NoRecorderError('stopped');
      const reason = await this.#try(backend, run, listener, judge);
      if (reason === null) return backend;
      reasons.push(reason);
    }
    throw new NoRecorderError(reasons.join('; '));
  }

  async stop(): Promise<void> {
    this.#run = undefined;
    await this.#process?.stop();
    this.#process = undefined;
  }

  abort(): void {
    this.#run = undefined;
    this.#process?.kill();
    this.#process = undefined;
  }

  /** @returns null when samples came, else why not */
  async #try(
    backend: RecorderOptions,
    run: symbol,
    listener: CaptureListener,
    judge: (line: string) => SourceDeath | null,
  ): Promise<string | null> {
    let started = false;
    let verdict: SourceDeath | null = null;
    const die = (death: SourceDeath): void => {
      if (this.#run !== run || !started) return;
      this.abort();
      listener.died(death);
    };
    const recorder = new RecorderProcess(backend, {
      samples: (pcm) => listener.samples(pcm),
      exited: (message) => die({ reason: 'recorder_died', message }),
      line: (line) => {
        verdict ??= judge(line);
        if (verdict === null) return;
        // Not another sample of it, from this moment on.
        recorder.kill();
        die(verdict);
      },
    });
    this.#process = recorder;
    try {
      await recorder.start(this.#firstSamplesMs);
      started = true;
      return null;
    } catch (error) {
      if (this.#process === recorder) this.#process = undefined;
      return (verdict as SourceDeath | null)?.message ?? (error as Error).message;
    }
  }
}
