import {
  AmbientError,
  type CoverageReason,
  type Level,
  SAMPLE_RATE,
  SAMPLES_PER_MS,
  type Track,
  type TrackInfo,
  type Warning,
} from '@ambient/contract';
import { deviceWarning, fileWarning, surplusWarning, withDevice } from './capture-warnings.js';
import { deferred } from './deferred.js';
import { FLOOR_DB, LevelMeter } from './level-meter.js';
import type { SessionClock } from './session-clock.js';
import type { CaptureSource, SourceDeath, SourceInfo } from './source.js';
import { stretch } from './stretch.js';
import { SupervisedSource } from './supervised-source.js';
import type { TrackSpool } from './track-spool.js';
import { TrackTimeline } from './track-timeline.js';

/** How a track reports; all times on the session's clock, ms. */
export interface TrackReporter {
  gapOpened(track: Track, fromMs: number, reason: CoverageReason): void;
  gapClosed(track: Track, toMs: number): void;
  warn(warning: Omit<Warning, 'at'>): void;
  /** The track's source has no more. */
  ended(track: Track): void;
  /** The device or program of the track changed. */
  changed(track: Track, info: SourceInfo): void;
}

interface Block {
  readonly pcm: Buffer;
  readonly atMs: number;
}

/** Blocks of this long are looked at before the first is placed: the most punctual of them tells the true time, ms. */
const SETTLE_MS = 300;
/** A recorder that gave something, but too little to settle, is taken as it is after this long, ms. */
const OPEN_MS = 2000;
/** A track that is down is filled up to this long ago; what its recorder gives next may be that old, ms. */
const FILL_MARGIN_MS = 700;
/** A file that runs ahead waits when this much is not on disk yet. */
const AHEAD_BYTES = 512 * 1024;
/** Blocks kept while the other track is still being opened: 40 s. */
const MAX_EARLY_BLOCKS = 1000;

/** One track of a live recording: its source, its place on the clock, its file. */
export class LiveTrack {
  readonly track: Track;
  readonly #clock: SessionClock;
  readonly #supervised: SupervisedSource;
  readonly #meter = new LevelMeter();
  readonly #begun = deferred();
  readonly #settled = deferred();
  readonly #isFile: boolean;
  #info: SourceInfo = { recorder: null, device: null };
  #reporter: TrackReporter | undefined;
  #spool: TrackSpool | undefined;
  #timeline: TrackTimeline | undefined;
  #zeroMs = 0;
  /** Blocks since the source (re)started that are not placed yet. */
  #fresh: Block[] | null = [];
  #freshSamples = 0;
  /** Earliest time at which the first sample of `#fresh` can have been heard, ms on the clock. */
  #heardMs = Number.POSITIVE_INFINITY;
  #freshSinceMs = 0;
  #gap: CoverageReason | null = null;
  /** Set when the source went down before the session existed. */
  #earlyDeath: SourceDeath | undefined;
  #paused = false;
  #muted = false;
  #level = { rms_db: FLOOR_DB, peak_db: FLOOR_DB };
  #peakDb = FLOOR_DB;

  constructor(source: CaptureSource, clock: SessionClock) {
    this.track = source.track;
    this.#clock = clock;
    this.#isFile = source.kind === 'file';
    // Waited for only while the source is being opened.
    this.#settled.promise.catch(() => {});
    this.#supervised = new SupervisedSource(source, () => clock.nowMs(), {
      block: (pcm, atMs) => this.#take({ pcm, atMs }),
      up: (info) => this.#up(info),
      down: (death) => this.#down(death),
      ended: () => this.#reporter?.ended(this.track),
      ready: () => this.#ready(),
    });
  }

  /** Opens the source; resolves when it delivers and it is known since when. @throws AmbientError */
  async open(): Promise<void> {
    await this.#supervised.open();
    if (this.#isFile) return;
    const timer = setTimeout(() => this.#settled.resolve(), OPEN_MS);
    try {
      await this.#settled.promise;
    } catch (error) {
      await this.#supervised.giveUp();
      this.#earlyDeath = undefined;
      this.#awaitFresh();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** When the first sample was heard, ms on the clock; a file begins when the recording does. */
  get heardMs(): number {
    return this.#isFile ? Number.POSITIVE_INFINITY : this.#heardMs;
  }

  get info(): TrackInfo {
    return {
      source: this.#supervised.source.kind,
      ...this.#info,
      sample_rate: SAMPLE_RATE,
      offset_ms: this.#spool?.offsetMs ?? 0,
      samples: this.#timeline?.position ?? 0,
    };
  }

  get level(): Pick<Level, 'rms_db' | 'peak_db' | 'muted'> {
    return { ...this.#level, muted: this.#muted };
  }

  /** Samples kept so far. */
  get samples(): number {
    return this.#timeline?.position ?? 0;
  }

  /** Highest peak since the last call, dBFS. */
  takePeak(): number {
    const peak = this.#peakDb;
    this.#peakDb = FLOOR_DB;
    return peak;
  }

  get device(): string | null {
    return this.#info.device;
  }

  get delivering(): boolean {
    return this.#supervised.running && !this.#paused && !this.#muted;
  }

  /** Offset of the track's first sample for a session that begins at `zeroMs` on the clock, whole ms. */
  offsetMs(zeroMs: number): number {
    return Number.isFinite(this.heardMs) ? Math.max(0, Math.round(this.heardMs - zeroMs)) : 0;
  }

  /**
   * The session exists: from here on samples go to `spool`.
   * @param late the source could not be opened; the track begins silent and joins when it can
   */
  begin(spool: TrackSpool, zeroMs: number, reporter: TrackReporter, late: boolean): void {
    this.#spool = spool;
    this.#zeroMs = zeroMs;
    this.#reporter = reporter;
    this.#timeline = new TrackTimeline(zeroMs + spool.offsetMs);
    this.#begun.resolve();
    if (late) {
      this.#openGap('not_started');
      this.#supervised.openLater();
    } else if (this.#earlyDeath !== undefined) this.#down(this.#earlyDeath);
    else this.#placeFresh();
  }

  /** To be called a few times a second. */
  tick(): void {
    this.#supervised.tick();
    if (this.#fresh !== null && !this.#isFile) this.#fill(this.#clock.nowMs() - FILL_MARGIN_MS);
    this.#level = this.#meter.read();
    this.#peakDb = Math.max(this.#peakDb, this.#level.peak_db);
  }

  verify(): Promise<void> {
    return this.#supervised.verify();
  }

  /** The computer slept. */
  wake(death: SourceDeath): void {
    this.#supervised.wake(death);
  }

  async pause(): Promise<void> {
    if (this.#paused) return;
    this.#paused = true;
    await this.#supervised.suspend();
    this.#placeFresh();
    if (!this.#isFile) this.#awaitFresh();
    this.#regap();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#supervised.resume();
    if (this.#isFile) this.#regap();
  }

  mute(muted: boolean): void {
    if (this.#muted === muted) return;
    this.#muted = muted;
    if (!this.#paused && this.#fresh === null) this.#regap();
  }

  /** Ends the source and keeps what it had heard; the track then reaches up to now. The spool is the caller's to finish. */
  async close(): Promise<void> {
    // Whoever still waits for the recording to begin must not wait for ever.
    this.#begun.resolve();
    this.#settled.reject(new AmbientError('no_source', 'It was stopped.'));
    await this.#supervised.close();
    this.#placeFresh();
    if (!this.#isFile && this.#gap !== null && this.#gap !== 'muted') this.#fill(this.#clock.nowMs());
    this.#closeGap();
  }

  async #ready(): Promise<void> {
    await this.#begun.promise;
    await this.#spool?.drained(AHEAD_BYTES);
  }

  #up(info: SourceInfo): void {
    const changed = info.recorder !== this.#info.recorder || info.device !== this.#info.device;
    this.#info = info;
    if (changed) this.#reporter?.changed(this.track, info);
  }

  #down(cause: SourceDeath): void {
    const death = withDevice(cause, this.#info);
    if (this.#timeline === undefined) {
      this.#earlyDeath = cause;
      this.#settled.reject(new AmbientError('no_source', `${death.message}.`, 'ambientctl devices'));
    } else this.#placeFresh();
    this.#awaitFresh();
    if (!this.#isFile) this.#openGap(death.reason);
    this.#reporter?.warn(this.#isFile ? fileWarning(this.track, death) : deviceWarning(this.track, death, Math.round(this.#sessionMs())));
  }

  #awaitFresh(): void {
    this.#fresh = [];
    this.#freshSamples = 0;
    this.#heardMs = Number.POSITIVE_INFINITY;
  }

  #take(block: Block): void {
    if (this.#fresh === null) {
      this.#place(block);
      return;
    }
    if (this.#fresh.length === 0) this.#freshSinceMs = block.atMs;
    if (this.#fresh.length >= MAX_EARLY_BLOCKS) return;
    this.#fresh.push(block);
    this.#freshSamples += block.pcm.length >> 1;
    this.#heardMs = Math.min(this.#heardMs, block.atMs - this.#freshSamples / SAMPLES_PER_MS);
    if (block.atMs - this.#freshSinceMs < SETTLE_MS && !this.#isFile) return;
    this.#settled.resolve();
    if (this.#spool !== undefined) this.#placeFresh();
  }

  /** The blocks since a (re)start get their place, after the hole before them. */
  #placeFresh(): void {
    const blocks = this.#fresh;
    if (blocks === null || blocks.length === 0 || this.#timeline === undefined) return;
    this.#fresh = null;
    if (!this.#isFile) this.#silence(this.#timeline.align(this.#heardMs));
    this.#regap();
    for (const block of blocks) this.#place(block);
  }

  #place({ pcm, atMs }: Block): void {
    const timeline = this.#timeline;
    if (timeline === undefined) return;
    if (this.#isFile) {
      this.#keep(pcm);
      return;
    }
    const { lost, length, surplus } = timeline.place(pcm.length >> 1, atMs);
    if (surplus) {
      this.#reporter?.warn(surplusWarning(this.track, this.#info, Math.round(this.#sessionMs())));
      return;
    }
    if (lost > 0) {
      if (this.#gap === null) this.#openGap('recorder_stalled');
      this.#silence(lost);
      this.#regap();
    }
    this.#keep(stretch(pcm, length));
  }

  #keep(pcm: Buffer): void {
    const samples = pcm.length >> 1;
    if (this.#paused || this.#muted) {
      this.#silence(samples);
      return;
    }
    this.#meter.add(pcm);
    this.#timeline?.advance(samples);
    this.#spool?.append(pcm);
  }

  #silence(samples: number): void {
    this.#timeline?.advance(samples);
    this.#spool?.silence(samples);
  }

  #fill(untilMs: number): void {
    this.#silence(this.#timeline?.missing(untilMs) ?? 0);
  }

  /** Where the track has come to, on the session's clock, ms. */
  #sessionMs(): number {
    return (this.#timeline?.positionMs ?? 0) - this.#zeroMs;
  }

  /** Closes the gap that is over and opens the one that holds now. */
  #regap(): void {
    const wanted = this.#paused ? 'paused' : this.#fresh === null && this.#muted ? 'muted' : null;
    if (wanted === this.#gap) return;
    this.#closeGap();
    if (wanted !== null) this.#openGap(wanted);
  }

  #openGap(reason: CoverageReason): void {
    if (this.#gap === reason) return;
    this.#closeGap();
    this.#gap = reason;
    this.#reporter?.gapOpened(this.track, Math.ceil(this.#sessionMs()), reason);
  }

  #closeGap(): void {
    if (this.#gap === null) return;
    this.#gap = null;
    this.#reporter?.gapClosed(this.track, Math.floor(this.#sessionMs()));
  }
}
