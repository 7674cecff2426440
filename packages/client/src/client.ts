import {
  type DaemonEvent,
  type HomePaths,
  homePaths,
  type RouteInput,
  type RouteName,
  type RouteReply,
  resolveHome,
} from '@ambient/contract';
import { type EventsOptions, events } from './events.js';
import { type CallOptions, call } from './http.js';
import { probe } from './probe.js';

/** Typed access to one daemon. Stateless: every call opens its own connection. */
export class AmbientClient {
  readonly socketPath: string;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** The client of this user's daemon. */
  static local(): AmbientClient {
    return new AmbientClient(localPaths().controlSocket);
  }

  /** @example `await client.call('search', { query: { q: 'budget' } })` */
  call<N extends RouteName>(name: N, input: RouteInput<N>, options?: CallOptions): Promise<RouteReply<N>> {
    return call(this.socketPath, name, input, options);
  }

  events(options?: EventsOptions): AsyncGenerator<DaemonEvent, void, undefined> {
    return events(this.socketPath, options);
  }

  /** True when a daemon accepts connections. Connects and hangs up; sends nothing. */
  isAlive(): Promise<boolean> {
    return probe(this.socketPath);
  }
}

/** Paths of this user's home, from AMBIENT_HOME and HOME. */
export function localPaths(): HomePaths {
  return homePaths(resolveHome(process.env, process.platform), process.getuid?.() ?? 0);
}
