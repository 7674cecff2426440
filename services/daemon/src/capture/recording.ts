import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoverageGap, Level, Levels, LiveStatus, StopReply, Track, TrackInfo, Warning } from '@ambient/contract';
import { AmbientError, SAMPLE_RATE } from '@ambient/contract';
import { isoWithOffset } from '../platform/clock.js';
import type { Session } from '../sessions/types.js';
import { WarningFilter } from './capture-warnings.js';
import { CoverageLedger } from './coverage-ledger.js';
import { DiskReserve, freeMiB, isDiskFull } from './disk-watch.js';
import { FolderGuard } from './folder-guard.js';
import type { LiveTrack, TrackReporter } from './live-track.js';
import type { AttachedJob, CapturePorts } from './ports.js';
import { PulseEvents } from './pulse-events.js';
import type { SessionClock } from './session-clock.js';
import { SilenceWatch } from './silence-watch.js';
import { TrackSpool } from './track-spool.js';

const TICK_MS = 250;
/** Devices and disk are looked at this often, ms. */
const LOOK_MS = 2000;
/** A session that a full disk kept from being closed is tried again this often, ms. */
const CLOSE_RETRY_MS = 2000;
/** A spool's header has 32 bits for its length; the recording ends an hour before they run out, samples. */
const MAX_SAMPLES = Math.floor(0xffff_ffff / 2) - 3600 * SAMPLE_RATE;

interface RecordingInit {
  readonly session: Session;
  readonly tracks: readonly LiveTrack[];
  /** Those of `tracks` that could not be opened and join later. */
  readonly late: ReadonlySet<LiveTrack>;
  readonly clock: SessionClock;
  /** When the session began, ms on the clock. */
  readonly zeroMs: number;
  readonly seconds: number | null;
  readonly ports: CapturePorts;
  /** Aborted when the daemon shuts down. */
  readonly closing: AbortSignal;
  /** The recording is over by itself: its time is up, its files have been played, the disk is full. */
  onOver(): void;
}

/** The recording in progress: its tracks, their files and what is watched meanwhile. */
export class Recording {
  readonly session: Session;
  readonly #init: RecordingInit;
  readonly #spools = new Map<Track, TrackSpool>();
  readonly #ledger: CoverageLedger;
  readonly #filter: WarningFilter;
  readonly #silence: SilenceWatch;
  readonly #folder: FolderGuard;
  #folderWarning: Warning | null = null;
  readonly #playing: Set<Track>;
  readonly #reserve: DiskReserve;
  readonly #pulse: PulseEvents | null;
  #job: AttachedJob | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedMs = 0;
  #looking = false;
  #paused = false;
  #lines = 0;
  #over = false;
  #full = false;
  /** Warnings that the full disk did not take. */
  readonly #unsaved: Warning[] = [];

  constructor(init: RecordingInit) {
    this.#init = init;
    this.session = init.session;
    this.#ledger = new CoverageLedger(init.session, (error) => this.#log(error, 'coverage not saved'));
    this.#filter = new WarningFilter(() => init.clock.nowMs());
    this.#silence = new SilenceWatch(
      init.tracks,
      (track) => this.#speaking(track),
      (warning) => this.#warn(warning),
    );
    this.#folder = new FolderGuard({
      session: init.session,
      spools: this.#spools,
      warn: (warning, saved) => this.#warnOfFolder(warning, saved),
    });
    this.#playing = new Set(init.tracks.map(({ track }) => track));
    this.#reserve = new DiskReserve(init.ports.store.dir);
    this.#pulse = process.platform === 'linux' && !this.#onlyFiles() ? new PulseEvents(() => void this.#look()) : null;
  }

  /** Opens the files and lets the samples in. @throws the file system's error */
  async start(): Promise<void> {
    const { tracks, late, zeroMs, ports } = this.#init;
    await this.#reserve.hold();
    try {
      for (const { track } of tracks) await this.#openSpool(track);
    } catch (error) {
      await Promise.all([...this.#spools.values()].map((spool) => spool.finish()));
      await this.#reserve.release();
      throw error;
    }
    ports.bus.on(this, (event) => {
      if (event.type === 'line' && event.session === this.session.id) this.#lines = event.index + 1;
    });
    const reporter = this.#reporter();
    for (const live of tracks) {
      const spool = this.#spools.get(live.track);
      if (spool !== undefined) live.begin(spool, zeroMs, reporter, late.has(live));
    }
    this.#job = ports.onSession(this.session, [...this.#spools.values()]);
    this.#pulse?.start();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Keeps what the devices have heard, ends the files and the session's capture; feeds end last. */
  async finish(): Promise<StopReply> {
    clearInterval(this.#timer);
    this.#pulse?.stop();
    this.#init.ports.bus.off(this);
    const { tracks } = this.#init;
    await Promise.all(tracks.map((live) => live.close()));
    // What is only in the open files would go with them.
    await this.#folder.look();
    await Promise.all([...this.#spools.values()].map((spool) => spool.finish()));
    await this.#reserve.release();
    if (this.#full) this.#recordFull();
    await this.#ledger.saved();
    const seconds = this.#seconds();
    // By the session's clock: the wall clock may have been set meanwhile.
    const ended = new Date(Date.parse(this.session.file.started_at) + this.#elapsedMs());
    const close = async (): Promise<void> => {
      await this.session.restore();
      await this.session.update((draft) => {
        for (const live of tracks) {
          const spool = this.#spools.get(live.track);
          draft.tracks[live.track] = { ...live.info, samples: spool?.available() ?? 0 };
        }
        this.#ledger.writeTo(draft);
        draft.warnings.push(...this.#unsaved);
        draft.ended_at = isoWithOffset(ended);
        draft.duration_s = seconds;
        draft.state = 'transcribing';
      });
    };
    try {
      await close();
      this.#endFeeds();
    } catch (error) {
      this.#log(error, 'session not closed, trying again');
      void this.#closeLater(close);
    }
    const warnings = this.warnings();
    return {
      id: this.session.id,
      duration_s: seconds,
      state: this.session.file.state,
      ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
    };
  }

  /** Until the disk takes it; should the daemon end first, the next start completes the session from its files. */
  async #closeLater(close: () => Promise<void>): Promise<void> {
    const { closing } = this.#init;
    while (!closing.aborted) {
      await sleep(CLOSE_RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
      try {
        await close();
        this.#endFeeds();
        return;
      } catch (error) {
        if (error instanceof AmbientError && error.code === 'not_found') return;
      }
    }
  }

  #endFeeds(): void {
    for (const spool of this.#spools.values()) spool.end();
  }

  async pause(): Promise<void> {
    this.#paused = true;
    await Promise.all(this.#init.tracks.map((live) => live.pause()));
  }

  resume(): void {
    this.#paused = false;
    for (const live of this.#init.tracks) live.resume();
  }

  /** @returns false when the recording has no such track */
  mute(track: Track, muted: boolean): boolean {
    const live = this.#init.tracks.find((t) => t.track === track);
    live?.mute(muted);
    return live !== undefined;
  }

  status(): LiveStatus {
    const { id, file } = this.session;
    return {
      id,
      name: file.name,
      started_at: file.started_at,
      elapsed_ms: this.#elapsedMs(),
      paused: this.#paused,
      muted: this.#init.tracks.flatMap((live) => (live.level.muted ? [live.track] : [])),
      tracks: this.#init.tracks.map(({ track }) => track),
      levels: this.levels(),
      lines: this.#lines,
    };
  }

  levels(): Levels {
    return Object.fromEntries(
      this.#init.tracks.map((live): [Track, Level] => [live.track, { ...live.level, speech: this.#speaking(live.track) }]),
    );
  }

  /** What status has to say of the recording. */
  warnings(): readonly Warning[] {
    return this.#folderWarning === null ? [] : [this.#folderWarning];
  }

  gaps(): readonly CoverageGap[] {
    return this.#ledger.all();
  }

  async #openSpool(track: Track): Promise<void> {
    const offsetMs = this.session.file.tracks[track]?.offset_ms ?? 0;
    const file = path.join(this.session.audioDir, `${track}.wav`);
    const spool = new TrackSpool({ track, path: file, offsetMs, onFailure: (error) => this.#spoolFailed(error) });
    await spool.start();
    this.#spools.set(track, spool);
  }

  #reporter(): TrackReporter {
    return {
      gapOpened: (track, fromMs, reason) => this.#ledger.open(track, fromMs, reason),
      gapClosed: (track, toMs) => this.#ledger.close(track, toMs),
      warn: (warning) => this.#warn(warning),
      ended: (track) => {
        this.#playing.delete(track);
        if (this.#playing.size === 0) this.#end();
      },
      changed: (track, info) =>
        void this.session
          .update((draft) => {
            const known: TrackInfo | undefined = draft.tracks[track];
            if (known !== undefined) Object.assign(known, info);
          })
          .catch((error: unknown) => this.#log(error, 'device not saved')),
    };
  }

  #tick(): void {
    const { clock, tracks, seconds, ports } = this.#init;
    const slept = clock.check();
    if (slept !== null) {
      const message = `for about ${Math.max(1, Math.round(slept.wallMs / 60_000))} min`;
      for (const live of tracks) live.wake({ reason: 'sleep', message });
    }
    for (const live of tracks) live.tick();
    const elapsed = this.#elapsedMs();
    this.#ledger.tick(elapsed);
    ports.bus.emit({ type: 'levels', session: this.session.id, elapsed_ms: elapsed, levels: this.levels() });
    if (clock.nowMs() - this.#lookedMs >= LOOK_MS) void this.#look();
    // A file ends by itself after that many samples.
    if (seconds !== null && !this.#onlyFiles() && elapsed >= seconds * 1000) this.#end();
    if (tracks.some((live) => live.samples > MAX_SAMPLES)) {
      this.#warn({ code: 'too_long', message: 'The recording reached the longest length a file can have.', hint: 'Start a new one.' });
      this.#end();
    }
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    this.#lookedMs = this.#init.clock.nowMs();
    this.#pulse?.start();
    try {
      await this.#folder.look();
      await this.#lookAtDisk();
      await Promise.all(this.#init.tracks.map((live) => live.verify()));
      await this.#silence.look(this.#init.clock.nowMs());
    } catch (error) {
      this.#log(error, 'looking at devices and disk failed');
    } finally {
      this.#looking = false;
    }
  }

  async #lookAtDisk(): Promise<void> {
    const { ports } = this.#init;
    const free = await freeMiB(this.session.dir);
    const stop = ports.config('disk.stop_mb');
    if (free < stop) {
      this.#stopForDisk(`Only ${Math.round(free)} MiB are free on the disk, less than disk.stop_mb (${stop}): the recording was stopped.`);
    } else if (free < ports.config('disk.low_mb')) {
      const message = `Only ${Math.round(free)} MiB are free on the disk; the recording stops at ${stop} MiB.`;
      this.#warn({ code: 'disk_low', message, hint: 'Free some space now.' });
    }
  }

  #spoolFailed(error: NodeJS.ErrnoException): void {
    this.#log(error, 'audio not written');
    this.#full = true;
    if (isDiskFull(error)) {
      this.#stopForDisk('The disk is full: the recording was stopped.');
      return;
    }
    this.#warn({
      code: 'write_failed',
      message: `Audio cannot be written (${error.code ?? error.message}): the recording was stopped.`,
      hint: 'Check the disk that holds the sessions.',
    });
    this.#end();
  }

  #stopForDisk(message: string): void {
    this.#full = true;
    void this.#reserve.release().then(() => {
      this.#warn({ code: 'disk_full', message, hint: 'Free some space; everything up to this point is kept.', from_ms: this.#elapsedMs() });
      this.#end();
    });
  }

  /** The ledger says from where on the full disk took nothing more. */
  #recordFull(): void {
    const now = this.#elapsedMs();
    for (const { track, offsetMs, available } of this.#keptSamples()) {
      const from_ms = Math.round(offsetMs + (available * 1000) / SAMPLE_RATE);
      this.#ledger.add({ track, from_ms, to_ms: Math.max(now, from_ms + 1), reason: 'disk_full' });
    }
  }

  #keptSamples(): { track: Track; offsetMs: number; available: number }[] {
    return [...this.#spools.values()].map((spool) => ({ track: spool.track, offsetMs: spool.offsetMs, available: spool.available() }));
  }

  #seconds(): number {
    const ends = this.#keptSamples().map(({ offsetMs, available }) => offsetMs / 1000 + available / SAMPLE_RATE);
    return Math.round(Math.max(0, ...ends) * 1000) / 1000;
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.#init.clock.nowMs() - this.#init.zeroMs));
  }

  #onlyFiles(): boolean {
    return this.#init.tracks.every((live) => live.info.source === 'file');
  }

  #speaking(track: Track): boolean {
    return this.#job?.speaking(track) ?? false;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#init.onOver();
  }

  #warn(warning: Omit<Warning, 'at'>): void {
    if (!this.#filter.admits(warning)) return;
    this.#init.ports.logger.warn({ session: this.session.id, code: warning.code, track: warning.track }, warning.message);
    this.session.addWarning(warning).catch((error: unknown) => {
      this.#unsaved.push({ ...warning, at: isoWithOffset(this.#init.ports.clock.now()) });
      this.#log(error, 'warning not saved yet');
    });
  }

  /** Told at once, even where the session cannot take it yet, and in status for as long as it is recorded. */
  #warnOfFolder(warning: Omit<Warning, 'at'>, saved: boolean): void {
    const { ports } = this.#init;
    this.#folderWarning = { ...warning, at: isoWithOffset(ports.clock.now()) };
    if (saved) this.#warn(warning);
    else {
      ports.logger.error({ session: this.session.id, code: warning.code }, warning.message);
      this.#unsaved.push(this.#folderWarning);
      ports.bus.emit({ type: 'warning', session: this.session.id, warning: this.#folderWarning });
    }
    ports.onChange();
  }

  #log(error: unknown, what: string): void {
    this.#init.ports.logger.error({ err: error, session: this.session.id }, what);
  }
}
