import type { SearchQuery, SearchReply } from '@ambient/contract';
import type { Session } from '../sessions/types.js';

/** The index over all sessions. Derived: deleting it loses nothing. */
export interface Library {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Brings the index of one session up to date (new lines, edits, metadata). */
  index(session: Session): Promise<void>;
  remove(id: string): Promise<void>;
  /** `allow` limits the sessions looked at (MCP scopes). */
  search(query: SearchQuery, allow?: (id: string) => boolean): Promise<SearchReply>;
  rebuild(): Promise<{ sessions: number; lines: number; skipped: { id: string; error: string }[] }>;
}
