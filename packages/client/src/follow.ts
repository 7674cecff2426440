import { setTimeout as sleep } from 'node:timers/promises';
import { AmbientError, type CoverageGap, type DaemonEvent, type Line, type SessionState, type Warning } from '@ambient/contract';
import type { AmbientClient } from './client.js';

/** What following a session yields: first `session`, then what happens in it, last `end`. */
export type FollowEvent =
  | { readonly type: 'session'; readonly id: string; readonly name: string | null; readonly state: SessionState }
  /** `index` counts from 0. Each line comes once and in order. */
  | { readonly type: 'line'; readonly index: number; readonly line: Line; readonly bleed: boolean }
  | { readonly type: 'struck'; readonly lines: readonly number[] }
  | { readonly type: 'warning'; readonly warning: Warning }
  | { readonly type: 'coverage'; readonly gap: CoverageGap }
  /** The daemon went away; following goes on as soon as it answers again. */
  | { readonly type: 'disconnected' }
  | { readonly type: 'end'; readonly state: SessionState | 'removed' };

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for a daemon that went away, ms. Default 60 000. */
  readonly patienceMs?: number;
  /** Pause between attempts to reach it, ms. Default 250. */
  readonly retryMs?: number;
}

interface Position {
  /** The argument at first, the session's id once the daemon resolved it. */
  session: string;
  resolved: boolean;
  /** Lines yielded so far: the cursor. */
  next: number;
}

/**
 * Every line of a session from its first on, then each as it is published, until its transcript is complete.
 * Subscribes before it reads, so that nothing falls between; survives a restart of the daemon with neither gap nor repeat.
 * @param session id, unique prefix, `last` or `live`
 * @throws AmbientError `not_found`, `ambiguous`, `bad_request` for the argument; `unavailable` when no daemon answers
 */
export async function* follow(
  client: AmbientClient,
  session: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowEvent, void, undefined> {
  const { signal, patienceMs = 60_000, retryMs = 250 } = options;
  const position: Position = { session, resolved: false, next: 0 };
  let deadline: number | undefined;
  for (;;) {
    try {
      const onOpen = (): void => {
        deadline = undefined;
      };
      for await (const event of connection(client, position, onOpen, signal)) {
        yield event;
        if (event.type === 'end') return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!position.resolved || !isGone(error)) throw error;
      if (deadline !== undefined && performance.now() > deadline) throw error;
    }
    if (signal?.aborted) return;
    if (deadline === undefined) {
      deadline = performance.now() + patienceMs;
      yield { type: 'disconnected' };
    }
    await sleep(retryMs, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/** One connection's worth of following; returns without `end` when the daemon goes away. */
async function* connection(
  client: AmbientClient,
  position: Position,
  onOpen: () => void,
  signal?: AbortSignal,
): AsyncGenerator<FollowEvent, void, undefined> {
  const events = client.events(signal ? { signal } : {});
  try {
    // The first event says that the subscription stands; only then is it safe to read.
    if ((await events.next()).done === true) return;
    onOpen();
    const { summary } = await client.call('session', { params: { session: position.session } });
    position.session = summary.id;
    if (!position.resolved) {
      position.resolved = true;
      yield { type: 'session', id: summary.id, name: summary.name, state: summary.state };
    }
    if (summary.state !== 'broken') yield* catchUp(client, position);
    if (isFinal(summary.state)) {
      yield { type: 'end', state: summary.state };
      return;
    }
    for await (const event of events) yield* react(client, position, event);
  } finally {
    await events.return();
  }
}

async function* react(client: AmbientClient, position: Position, event: DaemonEvent): AsyncGenerator<FollowEvent, void, undefined> {
  const id = position.session;
  if (event.type === 'line' && event.session === id && event.index >= position.next) {
    if (event.index > position.next) yield* catchUp(client, position);
    else {
      position.next += 1;
      yield { type: 'line', index: event.index, line: event.line, bleed: event.bleed ?? false };
    }
  } else if (event.type === 'session' && event.session.id === id && isFinal(event.session.state)) {
    if (event.session.state !== 'broken') yield* catchUp(client, position);
    yield { type: 'end', state: event.session.state };
  } else if (event.type === 'removed' && event.session === id) yield { type: 'end', state: 'removed' };
  else if (event.type === 'struck' && event.session === id) yield { type: 'struck', lines: event.lines };
  else if (event.type === 'warning' && event.session === id) yield { type: 'warning', warning: event.warning };
  else if (event.type === 'coverage' && event.session === id) yield { type: 'coverage', gap: event.gap };
}

/** Yields the lines from the cursor on that the daemon holds. Struck lines count and are not shown. */
async function* catchUp(client: AmbientClient, position: Position): AsyncGenerator<FollowEvent, void, undefined> {
  const { lines } = await client.call('lines', { params: { session: position.session }, query: {} });
  for (const entry of lines.slice(position.next)) {
    const { track, start_ms, end_ms, speaker, text, bleed, struck } = entry;
    position.next += 1;
    if (!struck) yield { type: 'line', index: entry.segment - 1, line: { track, start_ms, end_ms, speaker, text }, bleed };
  }
}

function isFinal(state: SessionState): boolean {
  return state === 'done' || state === 'interrupted' || state === 'broken';
}

function isGone(error: unknown): boolean {
  return error instanceof AmbientError && (error.code === 'unavailable' || error.code === 'timeout');
}
