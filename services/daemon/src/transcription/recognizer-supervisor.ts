import { AmbientError, type DaemonStatus } from '@ambient/contract';
import type { DetectorOptions, FromRecognizer, ModelFiles, ToRecognizer } from '@ambient/recognizer/protocol';
import type { Logger } from '../platform/logger.js';
import { RecognizerProcess } from './recognizer-process.js';

type State = DaemonStatus['recognizer']['state'];

export interface RecognizerSettings {
  readonly model: string;
  readonly turnsAtOnce: number;
  readonly detector: DetectorOptions;
  readonly idleUnloadSeconds: number;
}

interface SupervisorDeps {
  readonly settings: () => RecognizerSettings;
  readonly resolveModel: (name: string) => Promise<ModelFiles>;
  readonly logger: Logger;
  /** The model is loaded and takes streams. */
  readonly onReady: () => void;
  readonly onMessage: (message: FromRecognizer) => void;
  /** It is gone, with every stream in it. A new one is on its way while it is wanted. */
  readonly onGone: (reason: string) => void;
  readonly onChange: () => void;
}

/** Pauses between attempts to load, ms: doubled each time. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A model that takes longer to load hangs, ms. */
const LOAD_LIMIT_MS = 120_000;

/** Keeps a recognizer running while it is wanted, through crashes; unloads it when idle. */
export class RecognizerSupervisor {
  readonly #deps: SupervisorDeps;
  #process: RecognizerProcess | undefined;
  #state: State = 'unloaded';
  #error: string | null = null;
  #model: ModelFiles | undefined;
  #wanted = false;
  #pause = FIRST_PAUSE_MS;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #loading: NodeJS.Timeout | undefined;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  get ready(): boolean {
    return this.#state === 'ready';
  }

  get model(): ModelFiles | undefined {
    return this.#model;
  }

  status(busy: boolean): DaemonStatus['recognizer'] {
    return {
      state: this.#state === 'ready' && busy ? 'busy' : this.#state,
      model: this.#model?.name ?? this.#deps.settings().model,
      pid: this.#process?.pid ?? null,
      error: this.#error,
    };
  }

  /** Says whether there is work. The first call with true loads; after false it is unloaded when the idle time is over. */
  want(wanted: boolean): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    clearTimeout(this.#idle);
    this.#idle = undefined;
    if (wanted) {
      if (this.#process === undefined && this.#retry === undefined && this.#state !== 'loading') void this.#load();
    } else {
      this.#idle = setTimeout(() => this.#unload(), this.#deps.settings().idleUnloadSeconds * 1000);
      this.#idle.unref();
    }
  }

  /** Settings changed: an idle recognizer is unloaded, a failed one tried again at once. */
  reconfigure(): void {
    if (!this.#wanted) this.#unload();
    else if (this.#state === 'failed') {
      clearTimeout(this.#retry);
      this.#retry = undefined;
      this.#pause = FIRST_PAUSE_MS;
      void this.#load();
    }
  }

  send(message: ToRecognizer): void {
    this.#process?.send(message);
  }

  /** It made headway: the next crash is met without a long pause. */
  progressed(): void {
    this.#pause = FIRST_PAUSE_MS;
  }

  /** Ends the running process, as after a hang; `onGone` follows. */
  kill(): void {
    this.#process?.kill();
  }

  stop(): void {
    this.#wanted = false;
    clearTimeout(this.#idle);
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#unload();
  }

  #unload(): void {
    const process = this.#process;
    this.#process = undefined;
    process?.kill();
    if (this.#state !== 'failed') this.#setState('unloaded', null);
  }

  async #load(): Promise<void> {
    const settings = this.#deps.settings();
    this.#setState('loading', this.#error);
    try {
      this.#model = await this.#deps.resolveModel(settings.model);
    } catch (error) {
      const text =
        error instanceof AmbientError
          ? [error.message, error.hint].filter(Boolean).join(' ')
          : `The model cannot be read: ${(error as Error).message}`;
      this.#failed(text);
      return;
    }
    if (!this.#wanted) {
      this.#setState('unloaded', null);
      return;
    }
    const process: RecognizerProcess = new RecognizerProcess({
      message: (message) => {
        if (process === this.#process) this.#receive(message);
      },
      exit: (reason) => {
        if (process === this.#process) this.#exited(reason);
      },
    });
    this.#process = process;
    this.#loading = setTimeout(() => process.kill(), LOAD_LIMIT_MS);
    process.send({ type: 'load', model: this.#model, turnsAtOnce: settings.turnsAtOnce, detector: settings.detector });
  }

  #receive(message: FromRecognizer): void {
    if (message.type === 'loaded') {
      this.#deps.logger.info({ model: this.#model?.name, ms: message.ms }, 'model loaded');
      this.#setState('ready', null);
      this.#deps.onReady();
    } else if (message.type === 'load-failed') {
      const process = this.#process;
      this.#process = undefined;
      process?.kill();
      this.#failed(`The model ${this.#model?.name ?? ''} does not load: ${message.message} Run \`ambientctl doctor\`.`);
    } else this.#deps.onMessage(message);
  }

  #exited(reason: string): void {
    this.#process = undefined;
    this.#deps.logger.warn({ reason, state: this.#state }, 'recognizer ended');
    if (this.#state !== 'ready') {
      this.#failed(`The recognizer ended while it loaded: ${reason}. Run \`ambientctl doctor\`.`);
      return;
    }
    this.#deps.onGone(reason);
    if (!this.#wanted) {
      this.#setState('unloaded', null);
      return;
    }
    this.#setState('loading', null);
    this.#again();
  }

  #failed(text: string): void {
    this.#deps.logger.error({ reason: text }, 'recognizer failed');
    this.#setState('failed', text);
    if (this.#wanted) this.#again();
  }

  #again(): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.#wanted) void this.#load();
    }, this.#pause);
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2);
  }

  #setState(state: State, error: string | null): void {
    if (state !== 'loading') clearTimeout(this.#loading);
    this.#state = state;
    this.#error = error;
    this.#deps.onChange();
  }
}
