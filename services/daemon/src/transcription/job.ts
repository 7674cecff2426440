import type { Track } from '@ambient/contract';
import type { Session } from '../sessions/types.js';
import type { TrackStream } from './track-stream.js';
import type { TranscriptionJob } from './types.js';

/** The tracks of one session on their way to text. */
export class Job implements TranscriptionJob {
  readonly session: Session;
  readonly done: Promise<'complete' | 'stopped'>;
  readonly streams: TrackStream[] = [];
  /** Set once all streams are known: a job without any is complete, not forgotten. */
  ready = false;
  #resolve: (how: 'complete' | 'stopped') => void = () => undefined;

  constructor(session: Session) {
    this.session = session;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** A recording in progress goes before everything else. */
  get urgent(): boolean {
    return this.session.file.origin === 'live' && this.session.file.state === 'live';
  }

  get finished(): boolean {
    return this.ready && this.streams.every((stream) => stream.finished);
  }

  settle(how: 'complete' | 'stopped'): void {
    this.#resolve(how);
  }

  lagSeconds(): number {
    return Math.max(0, ...this.streams.map((stream) => stream.lagSeconds));
  }

  progress(): number {
    const available = this.streams.reduce((sum, stream) => sum + stream.feed.available(), 0);
    const done = this.streams.reduce((sum, stream) => sum + (stream.finished ? stream.feed.available() : stream.acknowledged), 0);
    return available === 0 ? (this.finished ? 1 : 0) : Math.min(1, done / available);
  }

  speaking(track: Track): boolean {
    return this.streams.some((stream) => stream.track === track && stream.speaking);
  }
}
