import { setTimeout as pause } from 'node:timers/promises';
import { AmbientError } from '@ambient/contract';
import type { Library } from './library/types.js';
import type { Bus } from './platform/bus.js';
import type { Logger } from './platform/logger.js';
import type { AudioFeed } from './sessions/audio-feed.js';
import type { Retention } from './sessions/retention.js';
import type { Session, SessionStore } from './sessions/types.js';
import type { Transcriber, TranscriptionJob } from './transcription/types.js';

interface PipelineDeps {
  readonly store: SessionStore;
  readonly transcriber: Transcriber;
  readonly library: Library;
  readonly retention: Retention;
  readonly bus: Bus;
  readonly logger: Logger;
}

/** A session's index is brought up to date at most this long after a line of it was published, ms. */
const INDEX_DELAY_MS = 250;
/** A session that could not be finished for want of space is tried again this often, ms. */
const SPACE_RETRY_MS = 2000;

/** Takes a captured session from audio to a finished, searchable transcript. */
export class Pipeline {
  readonly #deps: PipelineDeps;
  readonly #jobs = new Map<string, TranscriptionJob>();
  readonly #finishing = new Set<Promise<void>>();
  readonly #dirty = new Map<string, NodeJS.Timeout>();
  readonly #stopping = new AbortController();
  #off: (() => void) | undefined;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#off = this.#deps.bus.on(this, (event) => {
      if (event.type === 'line') this.#indexSoon(event.session);
      else if (event.type === 'session') this.#indexSoon(event.session.id);
      else if (event.type === 'removed') void this.#forget(event.session);
    });
  }

  /** Indexes what is due. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#off?.();
    const due = [...this.#dirty.keys()];
    for (const timer of this.#dirty.values()) clearTimeout(timer);
    this.#dirty.clear();
    for (const id of due) await this.#index(id);
  }

  /** Gives what is under way up to `ms` to finish. */
  async settle(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.all(this.#finishing), limit]);
    clearTimeout(timer);
  }

  job(id: string): TranscriptionJob | undefined {
    return this.#jobs.get(id);
  }

  /** Transcribes a session's feeds and finishes it when they have ended. Returns at once; `done` of the result waits for the finish. */
  attach(session: Session, feeds: readonly AudioFeed[]): TranscriptionJob {
    const job = this.#deps.transcriber.transcribe(session, feeds);
    this.#jobs.set(session.id, job);
    const finished = this.#finish(job).catch((error: unknown) =>
      this.#deps.logger.error({ err: error, session: session.id }, 'session not finished'),
    );
    this.#finishing.add(finished);
    void finished.finally(() => {
      this.#finishing.delete(finished);
      this.#jobs.delete(session.id);
    });
    return {
      session,
      done: finished.then(() => job.done),
      lagSeconds: () => job.lagSeconds(),
      progress: () => job.progress(),
      speaking: (track) => job.speaking(track),
    };
  }

  async #finish(job: TranscriptionJob): Promise<void> {
    const { library, retention } = this.#deps;
    if ((await job.done) === 'stopped') return;
    if (!(await this.#complete(job.session))) return;
    await library.index(job.session);
    await retention.sweep();
  }

  /** On a full disk waits for space: the text is there, only the session's state and `transcript.md` do not fit. */
  async #complete(session: Session): Promise<boolean> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await session.complete();
        return true;
      } catch (error) {
        if (!(error instanceof AmbientError) || error.code !== 'disk_full') throw error;
        this.#deps.logger.warn({ session: session.id }, 'the disk is full: session not finished yet');
        await pause(SPACE_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return false;
  }

  #indexSoon(id: string): void {
    if (this.#dirty.has(id)) return;
    const timer = setTimeout(() => {
      this.#dirty.delete(id);
      void this.#index(id);
    }, INDEX_DELAY_MS);
    this.#dirty.set(id, timer);
  }

  async #index(id: string): Promise<void> {
    try {
      await this.#deps.library.index(await this.#deps.store.get(id));
    } catch (error) {
      // The index is derived: a rebuild or the next start makes up for it.
      this.#deps.logger.warn({ err: error, session: id }, 'session not indexed');
    }
  }

  async #forget(id: string): Promise<void> {
    clearTimeout(this.#dirty.get(id));
    this.#dirty.delete(id);
    this.#deps.transcriber.forget(id);
    await this.#deps.library
      .remove(id)
      .catch((error: unknown) => this.#deps.logger.warn({ err: error, session: id }, 'session not removed from the index'));
  }
}
