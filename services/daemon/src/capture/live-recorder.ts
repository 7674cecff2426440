import {
  AmbientError,
  type CoverageGap,
  type DeviceList,
  type Levels,
  type LiveStatus,
  type StartReply,
  type StartRequest,
  type StopReply,
  type Track,
  type TrackInfo,
  type Warning,
} from '@ambient/contract';
import type { Session } from '../sessions/types.js';
import { notStartedWarning, sameSourceWarning } from './capture-warnings.js';
import { listDevices } from './devices.js';
import { freeMiB } from './disk-watch.js';
import type { LiveTrack } from './live-track.js';
import { type Failure, type Opened, openTracks, shuttingDown } from './open-tracks.js';
import type { CapturePorts } from './ports.js';
import { Recording } from './recording.js';
import { SessionClock } from './session-clock.js';
import { UnsupportedSourceError } from './source.js';
import type { MicMemory } from './sources/mic/source.js';
import type { Recorder } from './types.js';

/** Starts and stops the one recording. */
export class LiveRecorder implements Recorder {
  readonly #ports: CapturePorts;
  #recording: Recording | undefined;
  /** A start or a stop under way; settled when there is none. Never rejects. */
  #changing: Promise<unknown> = Promise.resolve();
  #stopping: Promise<StopReply> | undefined;
  readonly #closing = new AbortController();
  readonly #memory: MicMemory = { worked: null };

  constructor(ports: CapturePorts) {
    this.#ports = ports;
  }

  /**
   * Opens the sources first: a session exists only once something delivers.
   * @throws AmbientError `no_source`, `missing_tool`, `bad_audio`, `not_found`, `disk_full`; nothing is left behind
   */
  start(request: StartRequest): Promise<StartReply> {
    return this.#inTurn(async () => {
      if (this.#recording !== undefined) return startReply(this.#recording.session, true);
      if (this.#closing.signal.aborted) throw shuttingDown();
      return startReply((await this.#begin(request)).session, false);
    });
  }

  async stop(id?: string | null): Promise<StopReply> {
    if (this.#stopping === undefined) await this.#changing;
    const running = this.#recording;
    if (running === undefined) throw notRunning();
    if (id != null && id !== running.session.id)
      throw new AmbientError('conflict', `${id} is not the recording in progress; ${running.session.id} is.`, 'ambientctl stop');
    return this.#stop(running);
  }

  pause(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#running().pause();
      this.#ports.onChange();
    });
  }

  resume(): Promise<void> {
    return this.#inTurn(async () => {
      this.#running().resume();
      this.#ports.onChange();
    });
  }

  async mute(track: Track, muted: boolean): Promise<void> {
    if (!this.#running().mute(track, muted))
      throw new AmbientError('bad_request', `The recording has no track ${track}.`, 'ambientctl status shows its tracks.');
    this.#ports.onChange();
  }

  live(): LiveStatus | null {
    return this.#recording?.status() ?? null;
  }

  levels(): Levels {
    return this.#recording?.levels() ?? {};
  }

  gaps(): readonly CoverageGap[] {
    return this.#recording?.gaps() ?? [];
  }

  /** Warnings about the recording in progress that concern whoever looks at the status. */
  warnings(): readonly Warning[] {
    return this.#recording?.warnings() ?? [];
  }

  devices(): Promise<DeviceList> {
    return listDevices(process.platform);
  }

  async shutdown(): Promise<void> {
    this.#closing.abort();
    await this.#changing;
    if (this.#recording !== undefined) await this.#stop(this.#recording);
  }

  async #begin(request: StartRequest): Promise<Recording> {
    await this.#checkDisk();
    const clock = new SessionClock(this.#ports.clock);
    const opened = await openTracks(request, clock, this.#ports.config, this.#memory, this.#closing.signal);
    try {
      return await this.#record(request, opened, clock);
    } catch (error) {
      await Promise.all([...opened.open, ...opened.failed.map(({ track }) => track)].map((track) => track.close()));
      throw error;
    }
  }

  async #record(request: StartRequest, opened: Opened, clock: SessionClock): Promise<Recording> {
    const { store, config, clock: wall } = this.#ports;
    const joining = opened.failed.filter(joinsLater);
    const tracks = [...opened.open, ...joining.map(({ track }) => track)];
    const nowMs = clock.nowMs();
    const zeroMs = Math.min(nowMs, ...opened.open.map((live) => live.heardMs));
    const session = await store.create({
      name: request.name ?? null,
      origin: 'live',
      startedAt: new Date(wall.now().getTime() - (nowMs - zeroMs)),
      tracks: trackInfos(tracks, zeroMs),
      model: config('transcription.model'),
      state: 'live',
      isNewest: true,
    });
    const recording: Recording = new Recording({
      session,
      tracks,
      late: new Set(joining.map(({ track }) => track)),
      clock,
      zeroMs,
      seconds: request.seconds ?? null,
      ports: this.#ports,
      closing: this.#closing.signal,
      onOver: () => this.#over(recording),
    });
    try {
      await recording.start();
    } catch (error) {
      // Nothing was recorded: no ghost.
      await session
        .update((draft) => {
          draft.state = 'pending';
        })
        .catch(() => {});
      await store.remove(session.id).catch(() => {});
      throw error;
    }
    this.#recording = recording;
    for (const failure of opened.failed)
      await session.addWarning(notStartedWarning(failure.track.track, failure.error, joinsLater(failure)));
    const [mic, call] = (['room', 'call'] as const).map((name) => opened.open.find(({ track }) => track === name)?.device ?? null);
    if (mic != null && mic === call) await session.addWarning(sameSourceWarning(mic));
    this.#ports.onChange();
    return recording;
  }

  async #checkDisk(): Promise<void> {
    await this.#ports.store.prepare();
    const free = await freeMiB(this.#ports.store.dir);
    const least = this.#ports.config('disk.stop_mb');
    if (free < least)
      throw new AmbientError(
        'disk_full',
        `Only ${Math.round(free)} MiB are free on the disk that holds the sessions; recording needs ${least}.`,
        'Free some space, or lower disk.stop_mb.',
      );
  }

  #over(recording: Recording): void {
    this.#stop(recording).catch((error: unknown) => this.#ports.logger.error({ err: error, session: recording.session.id }, 'stop failed'));
  }

  #stop(recording: Recording): Promise<StopReply> {
    this.#stopping ??= this.#inTurn(async () => {
      try {
        return await recording.finish();
      } finally {
        this.#recording = undefined;
        this.#stopping = undefined;
        this.#ports.onChange();
      }
    });
    return this.#stopping;
  }

  #running(): Recording {
    if (this.#recording === undefined) throw notRunning();
    return this.#recording;
  }

  /** Runs one change after another. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#changing.then(change);
    this.#changing = result.catch(() => {});
    return result;
  }
}

/** A device may come back; a missing program or sound server stays missing. */
function joinsLater({ error }: Failure): boolean {
  return error.code === 'no_source' && !(error instanceof UnsupportedSourceError);
}

function trackInfos(tracks: readonly LiveTrack[], zeroMs: number): Partial<Record<Track, TrackInfo>> {
  return Object.fromEntries(tracks.map((live) => [live.track, { ...live.info, offset_ms: live.offsetMs(zeroMs) }]));
}

function startReply(session: Session, alreadyRunning: boolean): StartReply {
  const { id, dir, file } = session;
  const tracks = (['room', 'call'] as const).filter((track) => file.tracks[track] !== undefined);
  const warnings = [...file.warnings];
  return { id, name: file.name, dir, started_at: file.started_at, tracks, already_running: alreadyRunning, warnings };
}

function notRunning(): AmbientError {
  return new AmbientError('not_running', 'Nothing is being recorded.', 'Start with: ambientctl start');
}
