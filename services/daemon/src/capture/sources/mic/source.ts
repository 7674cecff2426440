import { AmbientError, type Track } from '@ambient/contract';
import { judgeMove } from '../../parec-lines.js';
import { pulseSources, sourceOfProcess } from '../../pulse.js';
import { NoRecorderError, RecorderChain } from '../../recorder-chain.js';
import type { CaptureListener, CaptureSource, SourceDeath, SourceInfo } from '../../source.js';
import { micBackends } from './backends.js';
import { type MicRequest, probeMic } from './probe.js';

/** A recorder that gives nothing for this long after its start is passed over, ms. A sleeping sound card takes up to 2 s. */
const FIRST_SAMPLES_MS = 2500;

/** What is remembered between recordings. */
export interface MicMemory {
  /** The program that gave samples last time. */
  worked: string | null;
}

/** The microphone: the first of sox, arecord and parec that is installed and gives samples. */
export class MicSource implements CaptureSource {
  readonly track: Track = 'room';
  readonly kind = 'mic';
  readonly #request: MicRequest;
  readonly #platform: NodeJS.Platform;
  readonly #chain = new RecorderChain(FIRST_SAMPLES_MS);
  /** Set when a named source of the sound server is recorded. */
  #pinned: string | null = null;
  readonly #memory: MicMemory;

  constructor(request: MicRequest, memory: MicMemory = { worked: null }, platform: NodeJS.Platform = process.platform) {
    this.#request = request;
    this.#memory = memory;
    this.#platform = platform;
  }

  async start(listener: CaptureListener): Promise<SourceInfo> {
    const run = this.#chain.begin();
    const probe = await probeMic(this.#request, this.#platform);
    this.#pinned = probe.pulseSource?.name ?? null;
    try {
      const backends = micBackends(this.#request, probe, this.#memory.worked);
      const { name } = await this.#chain.start(run, backends, listener, (line) => judgeMove(line, this.#pinned));
      const moved = await this.verify();
      if (moved !== null) throw new NoRecorderError(moved.message);
      this.#memory.worked = name;
      return { recorder: name, device: this.#request.device ?? (await this.#deviceInUse()) };
    } catch (error) {
      this.#chain.abort();
      if (error instanceof NoRecorderError) throw this.#silent(error.message);
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#chain.stop();
  }

  abort(): void {
    this.#chain.abort();
  }

  /** A sound server moves the stream of a device that was unplugged to another one without telling sox. */
  async verify(): Promise<SourceDeath | null> {
    if (this.#pinned === null) return null;
    const device = await this.#deviceInUse();
    if (device === null || device === this.#pinned) return null;
    return { reason: 'device_lost', message: `the sound server moved the recorder from ${this.#pinned} to ${device}` };
  }

  async #deviceInUse(): Promise<string | null> {
    const { pid } = this.#chain;
    if (pid === undefined || this.#platform === 'darwin') return null;
    const index = await sourceOfProcess(pid);
    return index === null ? null : ((await pulseSources()).find((source) => source.index === index)?.name ?? null);
  }

  #silent(reasons: string): AmbientError {
    const device = this.#request.device === null ? 'The microphone' : `The microphone ${this.#request.device}`;
    return new AmbientError(
      'no_source',
      `${device} gives no audio (${reasons}).`,
      'Connect a microphone; `ambientctl devices` lists what there is, --no-mic records system audio alone.',
    );
  }
}
