import path from 'node:path';
import { AmbientError, type ImportStatus, SAMPLE_RATE, type TrackInfo } from '@ambient/contract';
import { isUnfinishedImport } from '../../sessions/recovery.js';
import type { Session } from '../../sessions/types.js';
import { freeMiB } from '../disk-watch.js';
import { shuttingDown, toAmbientError } from '../open-tracks.js';
import type { CapturePorts } from '../ports.js';
import { type FileProbe, probeFile } from '../sources/file/probe.js';
import type { Importer } from '../types.js';
import { ImportJob } from './import-job.js';

/** Progress is told this often, ms. */
const REPORT_MS = 500;
/** Files looked into at the same time before an import begins. */
const PROBES = 4;
/** Finished imports that status still shows. */
const MAX_FINISHED = 100;

interface Entry {
  readonly job: ImportJob;
  status: ImportStatus;
}

/** Imports files one after the other; each is a session from the start, so that a crash forgets none. */
export class FileImporter implements Importer {
  readonly #ports: CapturePorts;
  readonly #entries: Entry[] = [];
  readonly #queue: Entry[] = [];
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;
  #reports: NodeJS.Timeout | undefined;

  constructor(ports: CapturePorts) {
    this.#ports = ports;
  }

  /**
   * @param files absolute paths
   * @throws AmbientError `not_found`, `bad_audio`, `missing_tool`, `bad_request`, `disk_full`; then nothing is imported
   */
  async import(files: readonly string[], options: { name: string | null; splitChannels: boolean }): Promise<readonly ImportStatus[]> {
    if (this.#stop.signal.aborted) throw shuttingDown();
    const probes = await probeAll(files);
    for (const probe of probes) if (options.splitChannels) assertStereo(probe);
    await this.#checkDisk(probes, options.splitChannels);
    const entries: Entry[] = [];
    for (const probe of probes) {
      const session = await this.#createSession(probe, sessionName(probe.path, options.name, files.length), options.splitChannels);
      entries.push(this.#enqueue(session, probe.path, probe));
    }
    return entries.map(({ status }) => status);
  }

  /** Takes up imports that the last daemon did not finish. To be called once at start. */
  async resumeImports(): Promise<void> {
    const { store, logger } = this.#ports;
    for (const id of (await store.ids()).toReversed()) {
      try {
        const session = await store.get(id);
        if (isUnfinishedImport(session.file)) this.#enqueue(session, session.file.source_file ?? '', null);
      } catch (error) {
        logger.debug({ err: error, session: id }, 'not looked at for an unfinished import');
      }
    }
  }

  list(): readonly ImportStatus[] {
    return this.#entries.map(({ status }) => status);
  }

  /** Leaves unfinished imports to the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#reports);
    await this.#working;
  }

  async #createSession(probe: FileProbe, name: string, split: boolean): Promise<Session> {
    const info: TrackInfo = { source: 'file', recorder: null, device: null, sample_rate: SAMPLE_RATE, offset_ms: 0, samples: 0 };
    return this.#ports.store.create({
      name,
      origin: 'import',
      sourceFile: probe.path,
      startedAt: this.#ports.clock.now(),
      tracks: split ? { room: info, call: { ...info } } : { room: info },
      model: this.#ports.config('transcription.model'),
      state: 'pending',
      isNewest: true,
    });
  }

  #enqueue(session: Session, file: string, probe: FileProbe | null): Entry {
    const job = new ImportJob({ session, file, probe, ports: this.#ports });
    const entry: Entry = { job, status: { id: session.id, file, state: 'decoding', progress: 0, error: null } };
    this.#forgetOld();
    this.#entries.push(entry);
    this.#queue.push(entry);
    this.#tell(entry, {});
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
    this.#reports ??= setInterval(() => this.#report(), REPORT_MS);
    return entry;
  }

  #forgetOld(): void {
    const finished = this.#entries.filter(({ status }) => status.state === 'done' || status.state === 'failed');
    for (const entry of finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)))
      this.#entries.splice(this.#entries.indexOf(entry), 1);
  }

  async #work(): Promise<void> {
    for (let entry = this.#queue.shift(); entry !== undefined && !this.#stop.signal.aborted; entry = this.#queue.shift()) {
      await this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    try {
      if (!(await entry.job.run(this.#stop.signal))) return;
      this.#tell(entry, { state: 'transcribing' });
      void this.#follow(entry);
    } catch (error) {
      const { message } = toAmbientError(error);
      this.#ports.logger.error({ err: error, session: entry.status.id }, 'import failed');
      this.#tell(entry, { state: 'failed', error: message });
    }
  }

  async #follow(entry: Entry): Promise<void> {
    const { attached } = entry.job;
    try {
      if (attached !== undefined && (await attached.done) === 'stopped') {
        if (!this.#stop.signal.aborted) this.#tell(entry, { state: 'failed', error: 'The session was deleted.' });
        return;
      }
      this.#tell(entry, { state: 'done', progress: 1 });
    } catch (error) {
      this.#tell(entry, { state: 'failed', error: toAmbientError(error).message });
    }
  }

  #report(): void {
    const active = this.#entries.filter(({ status }) => status.state === 'decoding' || status.state === 'transcribing');
    for (const entry of active) {
      const { attached, decodedShare } = entry.job;
      const share = entry.status.state === 'transcribing' ? 1 : decodedShare;
      // What is decoded but not yet text is no progress for who waits.
      const progress = Math.round((attached?.progress() ?? 0) * share * 1000) / 1000;
      if (progress > entry.status.progress) this.#tell(entry, { progress });
    }
    if (active.length > 0) return;
    clearInterval(this.#reports);
    this.#reports = undefined;
  }

  #tell(entry: Entry, change: Partial<ImportStatus>): void {
    entry.status = { ...entry.status, ...change };
    this.#ports.bus.emit({ type: 'import', import: entry.status });
  }

  async #checkDisk(probes: readonly FileProbe[], split: boolean): Promise<void> {
    const seconds = probes.reduce((sum, probe) => sum + (probe.durationS ?? 0), 0);
    const needed = (seconds * SAMPLE_RATE * 2 * (split ? 2 : 1)) / (1024 * 1024);
    await this.#ports.store.prepare();
    const free = await freeMiB(this.#ports.store.dir);
    if (free - needed >= this.#ports.config('disk.stop_mb')) return;
    throw new AmbientError(
      'disk_full',
      `The audio needs ${Math.ceil(needed)} MiB, and only ${Math.round(free)} MiB are free on the disk that holds the sessions.`,
      'Free some space, or lower disk.stop_mb.',
    );
  }
}

async function probeAll(files: readonly string[]): Promise<FileProbe[]> {
  const probes: FileProbe[] = [];
  for (let i = 0; i < files.length; i += PROBES) probes.push(...(await Promise.all(files.slice(i, i + PROBES).map(probeFile))));
  return probes;
}

function assertStereo(probe: FileProbe): void {
  if (probe.channels > 1) return;
  throw new AmbientError(
    'bad_request',
    `${path.basename(probe.path)} has one channel only: there is nothing to split.`,
    'Import it without --split-channels.',
  );
}

function sessionName(file: string, name: string | null, count: number): string {
  const base = path.basename(file, path.extname(file)).slice(0, 200);
  if (name === null) return base;
  return count === 1 ? name : `${name} (${base})`.slice(0, 200);
}
