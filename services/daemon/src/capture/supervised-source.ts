import { Pace } from './pace.js';
import type { CaptureListener, CaptureSource, SourceDeath, SourceInfo } from './source.js';

/** A live recorder that gives nothing for this long is stuck, ms. */
const STALL_MS = 2000;
/** What is said during a restart is lost, so the first comes almost at once, ms. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A recorder that ran this long was sound: the pauses begin small again, ms. */
const SOUND_MS = 10_000;
/** A longer time between ticks means that this process stood still, and what the recorder wrote meanwhile waits in its pipe, ms. */
const LATE_TICK_MS = 1000;

export interface SupervisionListener {
  /** Samples, with the time at which they arrived. */
  block(pcm: Buffer, atMs: number): void;
  /** The source delivers (again). */
  up(info: SourceInfo): void;
  /** The source stopped delivering; it is started again after a pause, for as long as it takes. */
  down(death: SourceDeath): void;
  ended(): void;
  ready(): Promise<void>;
}

type State = 'idle' | 'starting' | 'running' | 'waiting' | 'suspended' | 'ended' | 'closed';

/** Keeps a device source going: restarts it with growing pauses when it dies, stalls or records the wrong device. */
export class SupervisedSource {
  readonly source: CaptureSource;
  readonly #listener: SupervisionListener;
  readonly #nowMs: () => number;
  #state: State = 'idle';
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #startedMs = 0;
  #heardMs = 0;
  #tickMs = 0;
  #verifying = false;
  readonly #pace = new Pace();
  /** Callbacks of an earlier start carry an older number and are not listened to. */
  #round = 0;
  /** The start under way, settled when there is none. Never rejects. */
  #starting: Promise<void> = Promise.resolve();

  constructor(source: CaptureSource, nowMs: () => number, listener: SupervisionListener) {
    this.source = source;
    this.#nowMs = nowMs;
    this.#listener = listener;
  }

  get running(): boolean {
    return this.#state === 'running';
  }

  /** The first start. @throws AmbientError of the source; nothing is retried then */
  async open(): Promise<void> {
    this.#state = 'starting';
    try {
      await this.#start();
    } catch (error) {
      if (this.#state === 'starting') this.#state = 'idle';
      throw error;
    }
  }

  /** Takes back an `open` whose source did not last. */
  async giveUp(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#state !== 'closed') this.#state = 'idle';
    await this.#halt();
  }

  /** Begins with the source down, to be started as soon as it can be. */
  openLater(): void {
    if (this.#state === 'idle') this.#retry();
  }

  /** To be called a few times a second. */
  tick(): void {
    const now = this.#nowMs();
    const late = now - this.#tickMs > LATE_TICK_MS;
    this.#tickMs = now;
    if (this.#state !== 'running' || this.source.kind === 'file') return;
    if (late) this.#heardMs = now;
    if (now - this.#heardMs > STALL_MS) this.restart({ reason: 'recorder_stalled', message: 'the recorder runs but gives nothing' });
    else if (now - this.#startedMs > SOUND_MS && !this.#pace.isHasty(now)) this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** Asks the source whether it records what it should; to be called every few seconds. */
  async verify(): Promise<void> {
    if (this.#state !== 'running' || this.#verifying) return;
    this.#verifying = true;
    const round = this.#round;
    try {
      const death = await this.source.verify();
      if (death !== null && round === this.#round && this.running) this.restart(death);
    } finally {
      this.#verifying = false;
    }
  }

  /** Ends the recorder at once and starts it again. */
  restart(death: SourceDeath): void {
    if (this.#state !== 'running' || this.source.kind === 'file') return;
    this.source.abort();
    this.#died(death);
  }

  /** After a sleep: a recorder that runs may be dead without knowing, and one that waits need not wait longer. */
  wake(death: SourceDeath): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#state === 'waiting') {
      clearTimeout(this.#timer);
      void this.#again();
    } else this.restart(death);
  }

  /** Ends the recorder until `resume`: nothing listens. A file plays on. */
  async suspend(): Promise<void> {
    if (this.source.kind === 'file' || this.#state === 'closed') return;
    clearTimeout(this.#timer);
    this.#state = 'suspended';
    await this.#halt();
  }

  resume(): void {
    if (this.#state !== 'suspended') return;
    this.#pauseMs = FIRST_PAUSE_MS;
    void this.#again();
  }

  /** Ends for good; what was heard by now is still delivered. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#state = 'closed';
    await this.#halt();
  }

  async #halt(): Promise<void> {
    await this.source.stop();
    await this.#starting;
    this.#round++;
  }

  #start(): Promise<void> {
    const start = this.#run();
    this.#starting = start.catch(() => {});
    return start;
  }

  async #run(): Promise<void> {
    let early: SourceDeath | undefined;
    const round = ++this.#round;
    const current = (): boolean => round === this.#round;
    const down = (death: SourceDeath): void => {
      if (this.#state === 'starting') early ??= death;
      else if (this.#state === 'running') this.#died(death);
    };
    this.#pace.begin(this.#nowMs());
    const listener: CaptureListener = {
      samples: (pcm) => {
        if (!current() || early !== undefined) return;
        const now = this.#nowMs();
        this.#heardMs = now;
        this.#pace.take(pcm.length >> 1);
        if (this.source.kind !== 'file' && this.#pace.isRunaway(now)) {
          this.source.abort();
          down(this.#runaway(now));
        } else this.#listener.block(pcm, now);
      },
      died: (death) => {
        if (current()) down(death);
      },
      ended: () => {
        if (!current() || this.#state === 'closed') return;
        this.#state = 'ended';
        this.#listener.ended();
      },
      ready: () => this.#listener.ready(),
    };
    const info = await this.source.start(listener);
    if (!current() || this.#state !== 'starting') {
      await this.source.stop();
      return;
    }
    this.#state = 'running';
    this.#startedMs = this.#nowMs();
    this.#heardMs = this.#startedMs;
    this.#listener.up(info);
    if (early !== undefined) this.#died(early);
  }

  async #again(): Promise<void> {
    this.#state = 'starting';
    try {
      await this.#start();
    } catch {
      // The cause was told when the source went down.
      if (this.#state === 'starting') this.#retry();
    }
  }

  #died(death: SourceDeath): void {
    this.#round++;
    this.#listener.down(death);
    if (this.source.kind === 'file') {
      // What a file has given so far is what it holds.
      this.#state = 'ended';
      this.#listener.ended();
    } else this.#retry();
  }

  #runaway(nowMs: number): SourceDeath {
    const factor = this.#pace.factor(nowMs);
    const times = factor < 3 ? factor.toFixed(1) : Math.round(factor);
    return { reason: 'too_fast', message: `delivers ${times} times as many samples as time passes` };
  }

  #retry(): void {
    this.#state = 'waiting';
    this.#timer = setTimeout(() => void this.#again(), this.#pauseMs);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }
}
