import type { Scope, SessionSummary } from '@ambient/contract';
import { sinceTime } from '../library/dates.js';

/** What a scope is checked against. */
export type Scoped = Pick<SessionSummary, 'id' | 'started_at' | 'tags'>;

/** What is remembered of a session, to see what a change means for a client. */
export type Known = Scoped & Pick<SessionSummary, 'name'>;

export function isUnlimited(scope: Scope): boolean {
  return scope.tags.length === 0 && scope.since === null && scope.sessions.length === 0;
}

/** Every limit that is set must admit the session; one without a start time or tags is outside limits on those. */
export function inScope(scope: Scope, session: Scoped): boolean {
  if (scope.sessions.length > 0 && !scope.sessions.includes(session.id)) return false;
  if (scope.tags.length > 0 && !session.tags.some((tag) => scope.tags.includes(tag))) return false;
  if (scope.since === null) return true;
  return session.started_at !== null && Date.parse(session.started_at) >= sinceTime(scope.since);
}
