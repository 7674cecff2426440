import { AmbientError, type Track } from '@ambient/contract';
import { judgeMove } from '../../parec-lines.js';
import { NoRecorderError, RecorderChain } from '../../recorder-chain.js';
import type { CaptureListener, CaptureSource, SourceDeath, SourceInfo } from '../../source.js';
import { systemBackends } from './backends.js';
import { probeSystem, type SystemRequest, wantedMonitor } from './probe.js';

/** Longest wait for the first samples, ms. An idle sink's monitor wakes within 2 s. */
const FIRST_SAMPLES_MS = 3500;

/** What the computer plays: the monitor of a sink by parec on Linux, audiotee on a Mac. */
export class SystemSource implements CaptureSource {
  readonly track: Track = 'call';
  readonly kind = 'system';
  readonly #request: SystemRequest;
  readonly #platform: NodeJS.Platform;
  readonly #chain = new RecorderChain(FIRST_SAMPLES_MS);
  #monitor: string | null = null;

  constructor(request: SystemRequest, platform: NodeJS.Platform = process.platform) {
    this.#request = request;
    this.#platform = platform;
  }

  async start(listener: CaptureListener): Promise<SourceInfo> {
    const run = this.#chain.begin();
    const probe = await probeSystem(this.#request, this.#platform);
    const { monitor } = probe;
    this.#monitor = monitor;
    try {
      const { name } = await this.#chain.start(run, systemBackends(probe), listener, (line) => judgeMove(line, monitor));
      return { recorder: name, device: monitor };
    } catch (error) {
      if (!(error instanceof NoRecorderError)) throw error;
      throw new AmbientError(
        'no_source',
        `System audio gives nothing (${error.message}).`,
        'Run `ambientctl doctor`; --no-system records the microphone alone.',
      );
    }
  }

  stop(): Promise<void> {
    return this.#chain.stop();
  }

  abort(): void {
    this.#chain.abort();
  }

  /** The call follows the default sink, unless one was named. */
  async verify(): Promise<SourceDeath | null> {
    if (this.#platform === 'darwin' || this.#monitor === null) return null;
    const wanted = await wantedMonitor(this.#request, this.#monitor);
    if (wanted === null || wanted === this.#monitor) return null;
    return { reason: 'device_lost', message: `the default output changed from ${this.#monitor} to ${wanted}` };
  }
}
