import type { Scope, SessionSummary } from '@ambient/contract';

/** What a scope is checked against. */
export type Scoped = Pick<SessionSummary, 'id' | 'started_at' | 'tags'>;

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;

/** Milliseconds since the epoch of an ISO date or time; a bare date begins at local midnight. NaN when it is neither. */
export function instant(text: string): number {
  return Date.parse(DATE_ONLY.test(text) ? `${text}T00:00:00` : text);
}

export function isUnlimited(scope: Scope): boolean {
  return scope.tags.length === 0 && scope.since === null && scope.sessions.length === 0;
}

/** Every limit that is set must admit the session; one without a start time or tags is outside limits on those. */
export function inScope(scope: Scope, session: Scoped): boolean {
  if (scope.sessions.length > 0 && !scope.sessions.includes(session.id)) return false;
  if (scope.tags.length > 0 && !session.tags.some((tag) => scope.tags.includes(tag))) return false;
  if (scope.since === null) return true;
  return session.started_at !== null && Date.parse(session.started_at) >= instant(scope.since);
}
