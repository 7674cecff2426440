import { AmbientError, type CoverageReason, type Track } from '@ambient/contract';

/** This machine cannot record that at all, so trying again during a recording is no use. */
export class UnsupportedSourceError extends AmbientError {}

/** Why a source stopped delivering although nobody stopped it. */
export interface SourceDeath {
  readonly reason: CoverageReason;
  /** One clause in words, e.g. `sox ended: device busy`. */
  readonly message: string;
}

/** What a started source turned out to be. */
export interface SourceInfo {
  /** Program that records; null for a file. */
  readonly recorder: string | null;
  readonly device: string | null;
}

/** Where a source delivers to. None of these may throw. */
export interface CaptureListener {
  /** Whole s16le mono samples at 16 kHz, in order. The buffer is the listener's to keep. */
  samples(pcm: Buffer): void;
  died(death: SourceDeath): void;
  /** The source has no more: a file was played to its end. */
  ended(): void;
  /** Resolves when more can be taken. A device waits for nobody; a file does. */
  ready(): Promise<void>;
}

/**
 * One thing a track can be recorded from. Every kind lives in a folder of its own with the same parts:
 * `source.ts` (this interface), `probe.ts` (what can be recorded, found out before anything starts) and
 * `backends.ts` (the ways to get samples, in the order they are tried).
 */
export interface CaptureSource {
  readonly track: Track;
  readonly kind: 'mic' | 'system' | 'file';
  /**
   * Begins to deliver; may be called again after `stop`, `abort` or a death.
   * Resolves when the first samples have come.
   * @throws AmbientError `no_source`, `missing_tool`, `bad_audio`, `not_found`
   */
  start(listener: CaptureListener): Promise<SourceInfo>;
  /** Ends in an orderly way: what the device has heard by now is still delivered. Idempotent. */
  stop(): Promise<void>;
  /** Ends at once, for a source that does not answer. Nothing is delivered afterwards. */
  abort(): void;
  /**
   * Looks whether the device is still the one that should be recorded; called every few seconds.
   * @returns why the source has to be restarted, or null
   */
  verify(): Promise<SourceDeath | null>;
}
