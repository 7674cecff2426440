import path from 'node:path';
import { AmbientError, SAMPLE_RATE, type SessionFile, TRACKS, type Track } from '@ambient/contract';
import { isoWithOffset } from '../../platform/clock.js';
import { StaticAudioFeed } from '../../sessions/audio-feed.js';
import { trackPath } from '../../sessions/audio-files.js';
import type { Session } from '../../sessions/types.js';
import { repairHeader } from '../../sessions/wav.js';
import { isDiskFull } from '../disk-watch.js';
import type { AttachedJob, CapturePorts } from '../ports.js';
import { decoderFor } from '../sources/file/backends.js';
import { splitChannels } from '../sources/file/pcm.js';
import { type FileProbe, probeFile } from '../sources/file/probe.js';
import { TrackSpool } from '../track-spool.js';

/** Decoding waits when this much is not on disk yet. */
const AHEAD_BYTES = 2 * 1024 * 1024;

interface ImportJobInit {
  readonly session: Session;
  /** Absolute path of the file. */
  readonly file: string;
  /** Null when the import goes on after a restart: the file is looked at again. */
  readonly probe: FileProbe | null;
  readonly ports: CapturePorts;
}

/** Decodes one file into its session, as fast as the disk takes it, while transcription follows. */
export class ImportJob {
  readonly session: Session;
  readonly #init: ImportJobInit;
  readonly #spools = new Map<Track, TrackSpool>();
  #attached: AttachedJob | undefined;
  #decoded = 0;
  #durationS: number | null = null;
  #trouble: NodeJS.ErrnoException | undefined;

  constructor(init: ImportJobInit) {
    this.session = init.session;
    this.#init = init;
  }

  /** What transcribes the session; undefined until decoding has begun. */
  get attached(): AttachedJob | undefined {
    return this.#attached;
  }

  /** Share of the file that has been decoded, 0..1; half when its length is not known. */
  get decodedShare(): number {
    if (this.#durationS === null || this.#durationS <= 0) return 0.5;
    return Math.min(1, this.#decoded / SAMPLE_RATE / this.#durationS);
  }

  /**
   * Decodes from the start. Sample positions are the same each time, so lines published before a crash stay true.
   * @returns false when it was aborted: the session stays as an unfinished import
   * @throws AmbientError when there is no audio to keep; the session is gone then
   */
  async run(stop: AbortSignal): Promise<boolean> {
    const { file } = this.#init;
    let probe: FileProbe;
    try {
      probe = this.#init.probe ?? (await probeFile(file));
    } catch (error) {
      return this.#keepWhatIsThere(error as Error);
    }
    this.#durationS = probe.durationS;
    const tracks = TRACKS.filter((track) => this.session.file.tracks[track] !== undefined);
    for (const track of tracks) await this.#openSpool(track);
    this.#attached = this.#init.ports.onSession(this.session, [...this.#spools.values()]);
    const shortfall = await this.#decode(probe, tracks, stop);
    await Promise.all([...this.#spools.values()].map((spool) => spool.finish()));
    if (stop.aborted) return false;
    if (this.#decoded === 0) {
      for (const spool of this.#spools.values()) spool.end();
      throw await this.#nothing(shortfall ?? 'no audio in it');
    }
    if (shortfall !== null) await this.#warnShort(shortfall);
    await this.#close();
    for (const spool of this.#spools.values()) spool.end();
    return true;
  }

  async #openSpool(track: Track): Promise<void> {
    const spool = new TrackSpool({
      track,
      path: trackPath(this.session.audioDir, track),
      offsetMs: 0,
      onFailure: (error) => {
        this.#trouble ??= error;
      },
    });
    await spool.start();
    this.#spools.set(track, spool);
  }

  /** @returns why less than the whole file was kept, or null */
  async #decode(probe: FileProbe, tracks: readonly Track[], stop: AbortSignal): Promise<string | null> {
    const decoder = decoderFor(probe, tracks.length > 1 ? 2 : 1);
    try {
      for await (const pcm of decoder.blocks()) {
        if (stop.aborted || this.#trouble !== undefined) break;
        const parts = tracks.length > 1 ? splitChannels(pcm) : [pcm];
        for (const [i, track] of tracks.entries()) {
          const part = parts[i];
          if (part !== undefined) this.#spools.get(track)?.append(part);
        }
        this.#decoded += pcm.length / 2 / tracks.length;
        for (const spool of this.#spools.values()) await spool.drained(AHEAD_BYTES);
      }
    } catch (error) {
      return (error as Error).message;
    }
    return this.#trouble?.message ?? decoder.shortfall();
  }

  async #warnShort(reason: string): Promise<void> {
    const kept = `${Math.round(this.#decoded / SAMPLE_RATE)} s were kept`;
    const name = path.basename(this.#init.file);
    const trouble = this.#trouble;
    if (trouble === undefined) {
      const message = `${name} could not be read to its end (${reason}); ${kept}.`;
      await this.session.addWarning({ code: 'import_truncated', message, hint: 'Import an undamaged copy if there is one.' });
    } else if (isDiskFull(trouble)) {
      const message = `The disk became full while ${name} was imported; ${kept}.`;
      await this.session.addWarning({
        code: 'disk_full',
        message,
        hint: 'Free some space, delete this session and import the file again.',
      });
    } else {
      const message = `Audio could not be written (${trouble.code ?? trouble.message}); ${kept}.`;
      await this.session.addWarning({ code: 'write_failed', message, hint: 'Check the disk that holds the sessions.' });
    }
  }

  /** The source is gone since the daemon last ran: its audio up to the crash is a session like any other. */
  async #keepWhatIsThere(cause: Error): Promise<boolean> {
    const feeds: StaticAudioFeed[] = [];
    for (const track of TRACKS) {
      if (this.session.file.tracks[track] === undefined) continue;
      const file = trackPath(this.session.audioDir, track);
      const samples = await repairHeader(file).catch(() => 0);
      this.#decoded = Math.max(this.#decoded, samples);
      if (samples > 0) feeds.push(new StaticAudioFeed(track, file, 0, samples));
    }
    if (feeds.length === 0) throw await this.#nothing(cause.message);
    const at = isoWithOffset(this.#init.ports.clock.now());
    await this.session.addWarning({
      code: 'interrupted',
      message: `The import was interrupted and cannot go on: ${cause.message} The first ${Math.round(this.#decoded / SAMPLE_RATE)} s were kept.`,
      hint: 'Import the file again when it is back.',
    });
    await this.#close((draft) => {
      draft.interrupted_at = at;
      for (const feed of feeds) {
        const info = draft.tracks[feed.track];
        if (info !== undefined) info.samples = feed.available();
      }
    });
    this.#attached = this.#init.ports.onSession(this.session, feeds);
    return true;
  }

  async #close(change: (draft: SessionFile) => void = () => {}): Promise<void> {
    const seconds = Math.max(this.#decoded, ...[...this.#spools.values()].map((spool) => spool.available())) / SAMPLE_RATE;
    await this.session.update((draft) => {
      for (const spool of this.#spools.values()) {
        const info = draft.tracks[spool.track];
        if (info !== undefined) info.samples = spool.available();
      }
      draft.duration_s = Math.round(seconds * 1000) / 1000;
      // When the import ended. A file does not tell when it was recorded, and an end in the future would be a lie.
      draft.ended_at = isoWithOffset(this.#init.ports.clock.now());
      draft.state = 'transcribing';
      change(draft);
    });
  }

  /** Nothing to keep: no ghost. */
  async #nothing(reason: string): Promise<AmbientError> {
    await this.#init.ports.store.remove(this.session.id).catch(() => {});
    const name = path.basename(this.#init.file);
    if (this.#trouble !== undefined && isDiskFull(this.#trouble))
      return new AmbientError('disk_full', `The disk is full: nothing of ${name} was imported.`, 'Free some space and import it again.');
    return new AmbientError('bad_audio', `${name} gave no audio: ${reason}.`, 'Give an audio or video file that ffmpeg can read.');
  }
}
