import type { SearchMatch } from '@ambient/contract';
import type { Generated } from 'kysely';

/** A session that is indexed. */
export interface SessionTable {
  /** Never used twice, so that entries of a deleted session cannot turn up in another. */
  no: Generated<number>;
  id: string;
  /** What the session's files looked like when it was indexed; empty while it is being indexed. */
  fingerprint: string;
}

/** One line of a session, or one of the session's own fields. */
export interface EntryTable {
  /** `entryId(no, place)`, and the rowid in `entry_index`. */
  id: number;
  field: SearchMatch['field'];
  /** Line number from 1; 0 for the session as a whole. */
  segment: number;
  track: 'room' | 'call' | null;
  speaker: string | null;
  /** Folded for comparison. */
  speaker_key: string | null;
  start_ms: number | null;
  text: string;
}

/** Full-text index over the words of `entries.text` as `indexTerms` makes them. */
export interface TermTable {
  rowid: number;
  terms: string;
}

export interface IndexSchema {
  sessions: SessionTable;
  entries: EntryTable;
  entry_index: TermTable;
}

/** The session stands in the upper bits, so that matches are grouped by session without a join. */
const PLACES = 2 ** 24;
/** Places below are the session's own fields, so they come before its lines. */
const FIRST_LINE = 2 ** 16;

export function entryId(no: number, place: number): number {
  return no * PLACES + place;
}

export function linePlace(segment: number): number {
  return FIRST_LINE + segment;
}

/** Number of the session that an entry belongs to. */
export function sessionOf(id: number): number {
  return Math.floor(id / PLACES);
}

/** First and last id that entries of a session can have. */
export function entryRange(no: number): [number, number] {
  return [entryId(no, 0), entryId(no + 1, 0) - 1];
}

/** Fields beyond this many are not searchable. */
export const MAX_FIELDS = FIRST_LINE - 1;
