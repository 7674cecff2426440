import type { Logger } from '../platform/logger.js';
import type { SessionStore } from './types.js';

/** Writes `transcript.md` of every finished session anew: it is derived, so losing it loses nothing. */
export async function renewTranscripts(store: SessionStore, logger: Logger): Promise<void> {
  for (const { id, state } of await store.list()) {
    if (state !== 'done' && state !== 'interrupted') continue;
    try {
      await (await store.get(id)).writeTranscript();
    } catch (error) {
      logger.warn({ err: error, session: id }, 'transcript.md not written');
    }
  }
}
