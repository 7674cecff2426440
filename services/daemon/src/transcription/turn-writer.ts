import { setTimeout as pause } from 'node:timers/promises';
import { AmbientError, type RawLine } from '@ambient/contract';
import type { FromRecognizer } from '@ambient/recognizer/protocol';
import type { Logger } from '../platform/logger.js';
import type { TrackStream } from './track-stream.js';

/** A full disk is tried again this often, ms. */
const RETRY_MS = 2_000;

type Turn = Extract<FromRecognizer, { type: 'turn' }>;

interface WriterDeps {
  readonly logger: Logger;
  /** Name of the model that reads now. */
  readonly model: () => string;
  /** Ends every wait. */
  readonly closing: AbortSignal;
}

/** Puts what became of a turn into its session, and then moves the track's checkpoint behind it. */
export class TurnWriter {
  readonly #deps: WriterDeps;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  /** @param wanted false once another recognizer says this turn again, or nobody waits for it any more */
  async line(stream: TrackStream, turn: Turn, wanted: () => boolean): Promise<void> {
    if (turn.text !== '') {
      const line: RawLine = {
        track: stream.track,
        start_ms: stream.ms(turn.from),
        end_ms: stream.ms(turn.to),
        text: turn.text,
        confidence: turn.confidence,
        language: turn.language,
        samples: [turn.from, turn.to],
        model: this.#deps.model(),
      };
      if (!(await this.#untilWritten(stream, () => stream.session.appendLine(line), wanted))) return;
    }
    stream.checkpoint = turn.to;
  }

  /** A turn that recognizers die of or hang in. */
  async givenUp(stream: TrackStream, { from, to }: { from: number; to: number }, reason: string, wanted: () => boolean): Promise<void> {
    const warning = {
      code: 'turn_failed',
      message: `Speech on the ${stream.track} track could not be read: the recognizer failed twice on it (${reason}).`,
      hint: 'The audio is kept; listen to that stretch, or try another model.',
      track: stream.track,
      from_ms: stream.ms(from),
      to_ms: stream.ms(to),
      samples: [from, to] as [number, number],
    };
    if (await this.#untilWritten(stream, () => stream.session.addWarning(warning), wanted))
      stream.checkpoint = Math.max(stream.checkpoint, to);
  }

  /** The rest of a track whose file cannot be read. @param code of the system's error */
  async unreadable(stream: TrackStream, code: string): Promise<void> {
    await stream.session.addWarning({
      code: 'audio_unreadable',
      message: `The rest of the ${stream.track} track could not be read (${code}).`,
      hint: `Look at ${stream.feed.path}.`,
      track: stream.track,
      from_ms: stream.ms(stream.checkpoint),
    });
  }

  /** @returns false when it was not wanted any more before the write succeeded */
  async #untilWritten(stream: TrackStream, write: () => Promise<unknown>, wanted: () => boolean): Promise<boolean> {
    for (;;) {
      try {
        await write();
        return true;
      } catch (error) {
        if (error instanceof AmbientError && error.code === 'not_found') return false;
        this.#deps.logger.error({ err: error, session: stream.session.id }, 'line not written, trying again');
        await pause(RETRY_MS, undefined, { signal: this.#deps.closing }).catch(() => undefined);
        if (!wanted()) return false;
      }
    }
  }
}
