import type { Config, Track } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { AudioFeed } from '../sessions/audio-feed.js';
import type { Session, SessionStore } from '../sessions/types.js';

/** What capture needs to know about the transcription of a session. */
export interface AttachedJob {
  /** Resolves when the session's transcript is complete, or the daemon stops first. */
  readonly done: Promise<'complete' | 'stopped'>;
  /** Share of the audio that has been dealt with, 0..1. */
  progress(): number;
  /** Voice is being heard on the track right now. */
  speaking(track: Track): boolean;
}

/** What capture is given by the composition root. */
export interface CapturePorts {
  readonly store: SessionStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A setting's value now. */
  config<K extends keyof Config>(key: K): Config[K];
  /** Called once for each session as soon as it exists, while its feeds still grow. */
  onSession(session: Session, feeds: readonly AudioFeed[]): AttachedJob | undefined;
  /** Something that status shows has changed. */
  onChange(): void;
}
