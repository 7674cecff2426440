import type { DaemonEvent } from '@ambient/contract';
import type { Server } from '@modelcontextprotocol/server';
import type { ClientView } from './client-view.js';
import { sessionUri } from './resources.js';
import { inScope, type Known, type Scoped } from './scope.js';
import type { ScopedSessions } from './scoped-sessions.js';

/** A session's resource is reported as updated at most this often, ms. */
const UPDATE_MS = 1_000;

/** One server that speaks on a connection. A connection has a second one for a moment while the protocol's era is found out. */
export interface Peer {
  readonly server: Server;
  /** URIs subscribed to; undefined where the protocol layer keeps track itself. */
  readonly subscribed: Set<string> | undefined;
  /** A client of the older era hears nothing unasked before it has said that it is initialized. */
  listens: boolean;
}

interface LinkDeps {
  /** The client's record now; undefined once it may not use the connection any more. */
  readonly client: () => ClientView | undefined;
  readonly sessions: (client: ClientView) => ScopedSessions;
  readonly ended: AbortSignal;
  readonly used: () => void;
}

/** What a server knows of the connection it speaks on, and what the connection tells its servers unasked. */
export class Link {
  readonly #deps: LinkDeps;
  readonly #peers = new Set<Peer>();
  /** Sessions reported lately, and whether they changed again since. */
  readonly #resting = new Map<string, { timer: NodeJS.Timeout; again: boolean }>();

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    deps.ended.addEventListener('abort', () => this.#stop(), { once: true });
  }

  get ended(): AbortSignal {
    return this.#deps.ended;
  }

  client(): ClientView | undefined {
    return this.#deps.client();
  }

  used(): void {
    this.#deps.used();
  }

  attach(peer: Peer): void {
    this.#peers.add(peer);
  }

  detach(peer: Peer): void {
    this.#peers.delete(peer);
  }

  /** The client's toolsets or scope changed: what was listed may no longer hold. */
  listsChanged(): void {
    this.#tell(({ server }) => server.sendToolListChanged());
    this.#tell(({ server }) => server.sendPromptListChanged());
    this.#tell(({ server }) => server.sendResourceListChanged());
  }

  /**
   * Passes on what an event means for resources, as far as the client may know of the session.
   * @param before what was known of the session before the event
   */
  take(event: DaemonEvent, before: Known | undefined): void {
    if (this.#peers.size === 0) return;
    switch (event.type) {
      case 'session': {
        const was = before !== undefined && this.#sees(before);
        const is = this.#sees(event.session);
        const isRenamed = is && before?.name !== event.session.name;
        if (was !== is || isRenamed) this.#tell(({ server }) => server.sendResourceListChanged());
        if (is) this.#updated(event.session.id);
        return;
      }
      case 'removed':
        if (before !== undefined && this.#sees(before)) this.#tell(({ server }) => server.sendResourceListChanged());
        return;
      case 'line':
      case 'struck':
        void this.#updatedIfVisible(event.session);
        return;
      default:
    }
  }

  #sees(session: Scoped): boolean {
    const client = this.client();
    return client !== undefined && inScope(client.scope, session);
  }

  async #updatedIfVisible(id: string): Promise<void> {
    const client = this.client();
    if (client !== undefined && (await this.#deps.sessions(client).admits(id))) this.#updated(id);
  }

  #updated(id: string): void {
    if (this.ended.aborted) return;
    const resting = this.#resting.get(id);
    if (resting !== undefined) {
      resting.again = true;
      return;
    }
    const uri = sessionUri(id);
    this.#tell(({ server, subscribed }) =>
      subscribed === undefined || subscribed.has(uri) ? server.sendResourceUpdated({ uri }) : undefined,
    );
    const timer = setTimeout(() => {
      const again = this.#resting.get(id)?.again ?? false;
      this.#resting.delete(id);
      if (again) void this.#updatedIfVisible(id);
    }, UPDATE_MS);
    this.#resting.set(id, { timer, again: false });
  }

  #tell(send: (peer: Peer) => Promise<void> | undefined): void {
    // A peer that is about to go away is no reason to stop telling the others.
    for (const peer of this.#peers) if (peer.listens && peer.server.transport !== undefined) void send(peer)?.catch(() => undefined);
  }

  #stop(): void {
    for (const { timer } of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
    this.#peers.clear();
  }
}
