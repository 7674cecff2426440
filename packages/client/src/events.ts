import { connect } from 'node:net';
import { AmbientError, DaemonEvent } from '@ambient/contract';
import WebSocket from 'ws';

export interface EventsOptions {
  readonly signal?: AbortSignal;
}

/**
 * The daemon's events, from now on, until `signal` aborts or the daemon goes away (then the iteration ends).
 * Events of a type this client does not know are skipped.
 * @throws AmbientError `unavailable` when no daemon answers.
 */
export async function* events(socketPath: string, options: EventsOptions = {}): AsyncGenerator<DaemonEvent, void, undefined> {
  // Not a ws+unix: address: that would percent-encode the path, and a Mac's home has a space in it.
  const socket = new WebSocket('ws://localhost/v1/events', { maxPayload: 16 * 1024 * 1024, createConnection: () => connect(socketPath) });
  const queue: DaemonEvent[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  let failure: Error | undefined;
  const nudge = (): void => {
    wake?.();
    wake = undefined;
  };
  socket.on('message', (data) => {
    const event = DaemonEvent.safeParse(safeJson(String(data)));
    if (event.success) queue.push(event.data);
    nudge();
  });
  socket.on('error', (error) => {
    failure = error;
    nudge();
  });
  let opened = false;
  socket.on('open', () => {
    opened = true;
  });
  socket.on('close', () => {
    ended = true;
    nudge();
  });
  const onAbort = (): void => {
    ended = true;
    socket.terminate();
    nudge();
  };
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  try {
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) {
        yield next;
        continue;
      }
      if (options.signal?.aborted) return;
      if (failure !== undefined && !opened)
        throw new AmbientError('unavailable', 'The daemon is not running.', 'Start it with `ambientctl daemon start`.', { cause: failure });
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    socket.terminate();
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
