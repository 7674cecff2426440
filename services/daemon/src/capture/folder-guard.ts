import type { Warning } from '@ambient/contract';
import type { Session } from '../sessions/types.js';
import type { TrackSpool } from './track-spool.js';

type NewWarning = Omit<Warning, 'at'>;

interface GuardDeps {
  readonly session: Session;
  readonly spools: ReadonlyMap<unknown, TrackSpool>;
  /** `saved`: the session can take the warning. */
  warn(warning: NewWarning, saved: boolean): void;
}

const CODE = 'folder_gone';

/**
 * Looks whether the folder of a recording is still where it was made. When somebody moved or removed it, or files of it, it is
 * made again from what is in memory and in the open files, which still hold every sample.
 */
export class FolderGuard {
  readonly #deps: GuardDeps;
  /** Errors that were told: while one lasts it is not told every time. */
  #told = '';

  constructor(deps: GuardDeps) {
    this.#deps = deps;
  }

  /** To be called every few seconds, and before the open files are closed. Never throws. */
  async look(): Promise<void> {
    const { session, spools, warn } = this.#deps;
    try {
      let missing = await session.restore();
      for (const spool of spools.values()) {
        if (await spool.isInPlace()) continue;
        missing = true;
        await spool.restore();
      }
      this.#told = '';
      if (missing) warn(restored(session.id), true);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      if (reason === this.#told) return;
      this.#told = reason;
      warn(notRestored(session.dir, reason), false);
    }
  }
}

function restored(id: string): NewWarning {
  return {
    code: CODE,
    message:
      'The folder of this recording, or a file in it, was moved or removed while it was recorded. It was made again and holds everything.',
    hint: `Leave it where it is until the recording ends. To be rid of it: \`ambientctl stop\`, then \`ambientctl delete ${id}\`.`,
  };
}

function notRestored(dir: string, reason: string): NewWarning {
  return {
    code: CODE,
    message: `The folder of this recording was moved or removed while it was recorded, and cannot be made again (${reason}). Recording goes on into the open files.`,
    hint: `Make ${dir} writable, or put the folder back there, before you stop the recording; it is tried again all the time.`,
  };
}
