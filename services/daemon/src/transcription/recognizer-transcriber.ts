import type { DaemonStatus } from '@ambient/contract';
import type { FromRecognizer, ModelFiles } from '@ambient/recognizer/protocol';
import type { ConfigStore } from '../config/config-store.js';
import type { Logger } from '../platform/logger.js';
import type { AudioFeed } from '../sessions/audio-feed.js';
import type { Session } from '../sessions/types.js';
import { HangWatch } from './hang-watch.js';
import { Job } from './job.js';
import { RecognizerSupervisor } from './recognizer-supervisor.js';
import { Suspects } from './suspects.js';
import { TrackStream } from './track-stream.js';
import { TurnWriter } from './turn-writer.js';
import type { Transcriber, TranscriptionJob } from './types.js';

const RATE = 16_000;
/** Less voice than this is no turn, seconds. */
const MIN_SPEECH_SECONDS = 0.25;
/** Chunks of one track under way in the recognizer at once. */
const CHUNKS_UNDER_WAY = 3;

interface TranscriberDeps {
  readonly config: ConfigStore;
  readonly resolveModel: (name: string) => Promise<ModelFiles>;
  readonly logger: Logger;
  /** `recognizer()` or `lagSeconds()` has something new to say. */
  readonly onChange: () => void;
  /** Longest time one turn may take, ms, before the recognizer counts as hung; default 30 s plus four times the turn. */
  readonly decodeLimitMs?: (turnMs: number) => number;
  /** Longest time it may owe an answer between turns, ms; default 60 s. */
  readonly answerLimitMs?: number;
}

interface Entry {
  readonly stream: TrackStream;
  readonly job: Job;
  readonly off: () => void;
  /** In the recognizer that runs; audio is sent to an open stream only. */
  state: 'closed' | 'opening' | 'open';
}

/** Publishes turns exactly once: a line is on disk before its track's checkpoint moves, and every restart begins at the checkpoint. */
export class RecognizerTranscriber implements Transcriber {
  readonly #deps: TranscriberDeps;
  readonly #supervisor: RecognizerSupervisor;
  readonly #jobs = new Set<Job>();
  readonly #streams = new Map<number, Entry>();
  readonly #suspects = new Suspects();
  readonly #writer: TurnWriter;
  readonly #hangs: HangWatch;
  /** Stream whose first turn under way the recognizer was ended for. */
  #hung: number | undefined;
  #nextStream = 1;
  /** Counts recognizers: what was begun for an earlier one is void. */
  #generation = 0;
  readonly #closing = new AbortController();
  #stopped = false;
  #offConfig: (() => void) | undefined;

  constructor(deps: TranscriberDeps) {
    this.#deps = deps;
    this.#writer = new TurnWriter({
      logger: deps.logger,
      model: () => this.#supervisor.model?.name ?? deps.config.get('transcription.model'),
      closing: this.#closing.signal,
    });
    this.#hangs = new HangWatch({
      decodeLimitMs: deps.decodeLimitMs ?? ((turnMs) => 30_000 + 4 * turnMs),
      answerLimitMs: deps.answerLimitMs ?? 60_000,
      onHang: (limitMs, stream) => {
        deps.logger.warn({ limit_ms: limitMs }, 'recognizer hangs');
        this.#hung = stream;
        this.#supervisor.kill();
      },
    });
    const { config } = deps;
    this.#supervisor = new RecognizerSupervisor({
      settings: () => ({
        model: config.get('transcription.model'),
        turnsAtOnce: this.#turnsAtOnce(),
        idleUnloadSeconds: config.get('transcription.idle_unload_seconds'),
        detector: {
          pauseSeconds: config.get('transcription.pause_seconds'),
          minSpeechSeconds: MIN_SPEECH_SECONDS,
          maxTurnSeconds: config.get('transcription.max_turn_seconds'),
        },
      }),
      resolveModel: deps.resolveModel,
      logger: deps.logger,
      onReady: () => this.#openAll(),
      onMessage: (message) => this.#receive(message),
      onGone: (reason) => this.#lost(reason),
      onChange: deps.onChange,
    });
  }

  async start(): Promise<void> {
    this.#offConfig = this.#deps.config.onChange((key) => {
      if (key.startsWith('transcription.')) this.#supervisor.reconfigure();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#closing.abort();
    this.#offConfig?.();
    this.#hangs.clear();
    this.#generation++;
    this.#supervisor.stop();
    const entries = [...this.#streams.values()];
    this.#streams.clear();
    for (const { stream, off } of entries) {
      off();
      await stream.tail;
      await stream.close();
    }
    for (const job of this.#jobs) job.settle('stopped');
    this.#jobs.clear();
  }

  transcribe(session: Session, feeds: readonly AudioFeed[]): TranscriptionJob {
    const job = new Job(session);
    if (this.#stopped) {
      job.settle('stopped');
      return job;
    }
    this.#jobs.add(job);
    void this.#begin(job, feeds).catch((error: unknown) => {
      this.#deps.logger.error({ err: error, session: session.id }, 'transcription not begun');
      this.#jobs.delete(job);
      job.settle('stopped');
    });
    return job;
  }

  forget(id: string): void {
    for (const job of [...this.#jobs]) {
      if (job.session.id !== id) continue;
      this.#jobs.delete(job);
      for (const stream of job.streams) {
        this.#streams.get(stream.id)?.off();
        if (this.#streams.delete(stream.id)) this.#supervisor.send({ type: 'close', stream: stream.id });
        this.#hangs.forget(stream.id);
        void stream.tail.then(() => stream.close());
      }
      this.#acquit((key) => key.startsWith(`${id}/`));
      job.settle('stopped');
    }
    this.#supervisor.want(this.#streams.size > 0);
    this.#deps.onChange();
  }

  lagSeconds(): number {
    const jobs = [...this.#jobs];
    const live = jobs.filter((job) => job.urgent);
    return Math.max(0, ...(live.length > 0 ? live : jobs).map((job) => job.lagSeconds()));
  }

  recognizer(): DaemonStatus['recognizer'] {
    return this.#supervisor.status([...this.#streams.values()].some(({ stream }) => stream.reading.length > 0));
  }

  async #begin(job: Job, feeds: readonly AudioFeed[]): Promise<void> {
    for (const feed of feeds) {
      const checkpoint = await job.session.resumeAt(feed.track);
      if (this.#stopped || !this.#jobs.has(job)) return;
      const stream = new TrackStream(this.#nextStream++, job.session, feed, checkpoint);
      job.streams.push(stream);
      this.#streams.set(stream.id, { stream, job, state: 'closed', off: feed.subscribe(() => this.#pump(stream)) });
    }
    job.ready = true;
    this.#supervisor.want(this.#streams.size > 0);
    if (this.#supervisor.ready) this.#openAll();
    await this.#settleIfDone(job);
  }

  /** Opens, in the recognizer that runs, every stream that is not open there. */
  #openAll(): void {
    for (const entry of this.#streams.values()) this.#open(entry);
  }

  #open(entry: Entry): void {
    if (entry.state !== 'closed') return;
    entry.state = 'opening';
    const { stream, job } = entry;
    const generation = this.#generation;
    // What the last recognizer said is written first: it moves the checkpoint.
    void stream.tail
      .then(async () => {
        if (generation !== this.#generation) return;
        stream.rewind();
        // A resumed import is decoded from its start again: `#pump` opens it when the audio before the checkpoint is back.
        if (stream.feed.available() < stream.checkpoint && !stream.feed.ended()) {
          entry.state = 'closed';
          return;
        }
        const context = await stream.context();
        if (generation !== this.#generation) return;
        this.#supervisor.send({ type: 'open', stream: stream.id, from: stream.checkpoint, context, urgent: job.urgent });
        entry.state = 'open';
        stream.pumping = false;
        this.#pump(stream);
      })
      .catch((error: unknown) => this.#unreadable(stream, error));
  }

  /** Sends what may be sent of a track. Never two at once for one track. */
  #pump(stream: TrackStream): void {
    const entry = this.#streams.get(stream.id);
    if (entry === undefined || !this.#supervisor.ready) return;
    if (entry.state !== 'open') {
      this.#open(entry);
      return;
    }
    if (stream.pumping) {
      stream.again = true;
      return;
    }
    stream.pumping = true;
    const generation = this.#generation;
    void this.#send(stream, generation)
      .catch((error: unknown) => this.#unreadable(stream, error))
      .finally(() => {
        if (generation !== this.#generation) return;
        stream.pumping = false;
        if (stream.again) {
          stream.again = false;
          this.#pump(stream);
        }
      });
  }

  async #send(stream: TrackStream, generation: number): Promise<void> {
    for (;;) {
      const ended = stream.feed.ended();
      const available = stream.feed.available();
      const chunk = Math.round(this.#deps.config.get('transcription.chunk_seconds') * RATE);
      if (available > stream.sent) {
        if (stream.sent - stream.acknowledged > chunk * (CHUNKS_UNDER_WAY - 1)) return;
        const pcm = await stream.read(stream.sent, Math.min(available, stream.sent + chunk));
        if (generation !== this.#generation) return;
        if (pcm.byteLength === 0) {
          // The file is shorter than its feed says; no more of it will come.
          if (ended) this.#finish(stream);
          return;
        }
        stream.sent += pcm.byteLength / 2;
        this.#supervisor.send({ type: 'feed', stream: stream.id, pcm });
        this.#hangs.asked(stream.id);
        continue;
      }
      if (ended) this.#finish(stream);
      return;
    }
  }

  #finish(stream: TrackStream): void {
    if (stream.finishing) return;
    stream.finishing = true;
    this.#supervisor.send({ type: 'finish', stream: stream.id });
    this.#hangs.asked(stream.id);
  }

  #receive(message: FromRecognizer): void {
    if (message.type === 'loaded' || message.type === 'load-failed') return;
    const entry = this.#streams.get(message.stream);
    if (entry === undefined) return;
    const { stream, job } = entry;
    switch (message.type) {
      case 'decoding':
        stream.reading.push({ from: message.from, to: message.to });
        this.#hangs.decoding(stream.id, ((message.to - message.from) * 1000) / RATE);
        return;
      case 'turn':
        this.#hangs.decoded(stream.id);
        stream.reading.shift();
        this.#supervisor.progressed();
        this.#acquit((key) => key === keyOf(stream, message.from));
        this.#after(stream, () => this.#writer.line(stream, message, this.#wanted(stream)));
        return;
      case 'fed':
        this.#hangs.answered(stream.id);
        this.#after(stream, async () => {
          stream.acknowledged = message.to;
          stream.speaking = message.speaking;
          this.#pump(stream);
        });
        return;
      case 'finished':
        this.#hangs.answered(stream.id);
        this.#after(stream, () => this.#finished(stream, job));
    }
  }

  /** Answers of a recognizer that is gone are dropped: what they said will be said again. */
  #after(stream: TrackStream, work: () => Promise<void>): void {
    const generation = this.#generation;
    stream.tail = stream.tail
      .then(() => (generation === this.#generation ? work() : undefined))
      .catch((error: unknown) => this.#deps.logger.error({ err: error, session: stream.session.id }, 'transcription step failed'));
  }

  async #finished(stream: TrackStream, job: Job): Promise<void> {
    stream.finished = true;
    stream.speaking = false;
    this.#streams.get(stream.id)?.off();
    this.#streams.delete(stream.id);
    this.#hangs.forget(stream.id);
    await stream.close();
    await this.#settleIfDone(job);
  }

  async #settleIfDone(job: Job): Promise<void> {
    this.#supervisor.want(this.#streams.size > 0);
    if (!job.finished || !this.#jobs.delete(job)) return;
    this.#acquit((key) => key.startsWith(`${job.session.id}/`));
    job.settle('complete');
    this.#deps.onChange();
  }

  #lost(reason: string): void {
    this.#hangs.clear();
    const entries = [...this.#streams.values()];
    const alone = entries.reduce((turns, { stream }) => turns + stream.reading.length, 0) === 1;
    for (const entry of entries) {
      entry.state = 'closed';
      const { stream } = entry;
      stream.speaking = false;
      for (const [i, turn] of stream.reading.splice(0).entries()) {
        const certain = this.#hung === undefined ? alone : this.#hung === stream.id && i === 0;
        if (!this.#suspects.blame(keyOf(stream, turn.from), certain)) continue;
        // The next recognizer waits for it.
        stream.tail = stream.tail.then(() => this.#writer.givenUp(stream, turn, reason, this.#wanted(stream)));
      }
    }
    this.#hung = undefined;
    // Only after the blame is queued: it belongs to the recognizer that is gone.
    this.#generation++;
  }

  /** As long as the recognizer of now runs, and the stream in it. */
  #wanted(stream: TrackStream): () => boolean {
    const generation = this.#generation;
    return () => !this.#stopped && generation === this.#generation && this.#streams.has(stream.id);
  }

  #turnsAtOnce(): number {
    return this.#suspects.any ? 1 : this.#deps.config.get('transcription.threads');
  }

  #acquit(matches: (turn: string) => boolean): void {
    if (this.#suspects.acquit(matches)) this.#supervisor.send({ type: 'pace', turnsAtOnce: this.#turnsAtOnce() });
  }

  /** A track whose file cannot be read ends here, and says so. */
  #unreadable(stream: TrackStream, error: unknown): void {
    this.#deps.logger.error({ err: error, session: stream.session.id, track: stream.track }, 'audio not readable');
    const entry = this.#streams.get(stream.id);
    if (entry === undefined || this.#stopped) return;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    this.#after(stream, async () => {
      await this.#writer.unreadable(stream, code);
      this.#supervisor.send({ type: 'close', stream: stream.id });
      await this.#finished(stream, entry.job);
    });
  }
}

/** Names a turn across recognizers. */
function keyOf(stream: TrackStream, from: number): string {
  return `${stream.session.id}/${stream.track}/${from}`;
}
