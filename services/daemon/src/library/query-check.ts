import { AmbientError, type SearchQuery, type SessionSummary } from '@ambient/contract';
import { foldText } from '../sessions/words.js';
import { sinceTime, untilTime } from './dates.js';

export const MAX_QUERY_LENGTH = 1000;

/** @throws AmbientError `bad_request` for an empty or overlong query */
export function checkQuery({ q }: SearchQuery): void {
  const hint = 'Give one or more words, for example `ambientctl search budget`.';
  if (q.trim() === '') throw new AmbientError('bad_request', 'there is nothing to search for', hint);
  if (q.length <= MAX_QUERY_LENGTH) return;
  throw new AmbientError('bad_request', `the query is longer than ${MAX_QUERY_LENGTH} characters`, hint);
}

/**
 * The filters that are about a session as a whole: its tags and its start.
 * @throws AmbientError `bad_request` for what is not a date
 */
export function rowFilter({ since, until, tag }: SearchQuery): (row: SessionSummary) => boolean {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : sinceTime(since);
  const to = until === undefined ? Number.POSITIVE_INFINITY : untilTime(until);
  const wanted = tag === undefined ? undefined : foldText(tag.trim());
  return (row) => {
    if (wanted !== undefined && !row.tags.some((known) => foldText(known.trim()) === wanted)) return false;
    if (since === undefined && until === undefined) return true;
    const started = Date.parse(row.started_at ?? '');
    return started >= from && started < to;
  };
}
