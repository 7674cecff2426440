import type { DaemonStatus, Track } from '@ambient/contract';
import type { AudioFeed } from '../sessions/audio-feed.js';
import type { Session } from '../sessions/types.js';

export interface TranscriptionJob {
  readonly session: Session;
  /** Resolves when every turn of every feed is published or given up (`complete`), or the transcriber stopped first (`stopped`). Never rejects. */
  readonly done: Promise<'complete' | 'stopped'>;
  /** Seconds of captured audio not yet reached. */
  lagSeconds(): number;
  /** Share of the audio that has been dealt with, 0..1. */
  progress(): number;
  /** Voice is being heard on the track right now, as far as recognition has come. */
  speaking(track: Track): boolean;
}

export interface Transcriber {
  start(): Promise<void>;
  /** Stops reading; what is unpublished is taken up again by the next `transcribe` of the same session. */
  stop(): Promise<void>;
  /** Publishes the turns of all feeds into the session, from `session.resumeAt` on. Live sessions go first. */
  transcribe(session: Session, feeds: readonly AudioFeed[]): TranscriptionJob;
  /** The session was deleted: nothing more of it is read. */
  forget(id: string): void;
  lagSeconds(): number;
  recognizer(): DaemonStatus['recognizer'];
}
