import { request } from 'node:http';
import { AmbientError, ErrorBody, type Route, type RouteInput, type RouteName, type RouteReply, routes } from '@ambient/contract';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Give up after this long, ms. Default 30 000; 0 waits for ever. */
  readonly timeoutMs?: number;
}

interface Parts {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/**
 * Calls one route of the control API.
 * @throws AmbientError with the daemon's code and hint; `unavailable` when no daemon answers on the socket.
 */
export async function call<N extends RouteName>(
  socketPath: string,
  name: N,
  input: RouteInput<N>,
  options: CallOptions = {},
): Promise<RouteReply<N>> {
  const route: Route = routes[name];
  const { params = {}, query = {}, body } = input as Parts;
  const { status, text } = await exchange(socketPath, route.method, fill(route.path, params) + queryString(query), body, options);
  const value: unknown = text === '' ? {} : parse(text);
  if (status >= 400) {
    const error = ErrorBody.safeParse(value);
    throw error.success
      ? AmbientError.from(error.data)
      : new AmbientError('internal', `The daemon answered ${status}.`, 'See `ambientctl daemon logs`.');
  }
  const reply = route.reply.safeParse(value);
  if (!reply.success)
    throw new AmbientError(
      'internal',
      `The daemon's answer to ${name} is not of the agreed shape.`,
      'Client and daemon differ in version: run `ambientctl daemon stop`, then try again.',
      { cause: reply.error },
    );
  return reply.data as RouteReply<N>;
}

function fill(path: string, params: Record<string, unknown>): string {
  return path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(params[key] ?? '')));
}

function queryString(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).filter(([, v]) => v !== undefined && v !== null);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(([k, v]): [string, string] => [k, String(v)])).toString()}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AmbientError('internal', 'The daemon sent something that is not JSON.', 'See `ambientctl daemon logs`.', { cause });
  }
}

function exchange(
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<{ status: number; text: string }> {
  const { signal, timeoutMs = 30_000 } = options;
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const req = request(
      {
        socketPath,
        method,
        path,
        agent: false,
        ...(signal ? { signal } : {}),
        headers: payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) },
      },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', (error) => reject(unreachable(error)));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
      },
    );
    if (timeoutMs > 0)
      req.setTimeout(timeoutMs, () =>
        req.destroy(
          new AmbientError(
            'timeout',
            `The daemon did not answer within ${timeoutMs / 1000} s.`,
            'Try again; `ambientctl daemon logs` shows what it is doing.',
          ),
        ),
      );
    req.on('error', (error) => reject(error instanceof AmbientError ? error : unreachable(error)));
    req.end(payload);
  });
}

function unreachable(cause: Error): AmbientError {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'ABORT_ERR') return new AmbientError('timeout', 'The call was cancelled.', undefined, { cause });
  if (code === 'EACCES')
    return new AmbientError('forbidden', 'The control socket belongs to another user.', 'Run this as the user who runs the daemon.', {
      cause,
    });
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return new AmbientError('unavailable', 'The daemon is not running.', 'Start it with `ambientctl daemon start`.', { cause });
  return new AmbientError(
    'unavailable',
    'The daemon went away before it answered.',
    'Run the command again; `ambientctl daemon logs` says why it ended.',
    { cause },
  );
}
