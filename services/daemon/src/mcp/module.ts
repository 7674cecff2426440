import { setImmediate } from 'node:timers/promises';
import type { Approval, AuditEntry, DaemonEvent, DaemonStatus, HomePaths, McpClient, Warning } from '@ambient/contract';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Recorder } from '../capture/types.js';
import type { Library } from '../library/types.js';
import type { Bus } from '../platform/bus.js';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { SessionStore } from '../sessions/types.js';
import { Approvals } from './approvals.js';
import { AuditLog } from './audit.js';
import { CallLog } from './call-log.js';
import { Changes } from './changes.js';
import { ClientStore } from './client-store.js';
import { type ClientChange, ClientRegistry, type NewClient } from './clients.js';
import { RateLimits } from './limits.js';
import { Link } from './link.js';
import { Operations } from './operations.js';
import { inScope, type Known, type Scoped } from './scope.js';
import { ScopedSessions } from './scoped-sessions.js';
import { buildServer, MAX_SUBSCRIPTIONS } from './server.js';
import type { McpServices } from './services.js';
import { type Connection, McpSocketServer } from './socket-server.js';

export interface McpDeps {
  readonly paths: HomePaths;
  readonly version: string;
  readonly store: SessionStore;
  readonly library: Library;
  readonly recorder: Recorder;
  readonly status: () => Promise<DaemonStatus>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The setting `mcp.enabled`. */
  readonly enabled: () => boolean;
  readonly setEnabled: (enabled: boolean) => Promise<void>;
  /** The number of connections or the socket changed. */
  readonly onChange?: () => void;
  /** How long an approval waits, ms. Default 60 000. */
  readonly approvalMs?: number;
}

/** The MCP server: who may connect, the socket they connect to, and what they can do there. */
export class McpModule {
  readonly #deps: McpDeps;
  readonly #clients: ClientRegistry;
  readonly #socket: McpSocketServer;
  readonly #services: McpServices;
  readonly #links = new Map<Connection, Link>();
  /** What was last known of each session, so that its removal can be told to those who could see it. */
  readonly #known = new Map<string, Known>();
  #offEvents: (() => void) | undefined;
  #isPrepared = false;

  constructor(deps: McpDeps) {
    const { paths, bus, clock, logger, store, library, recorder, status, version } = deps;
    this.#deps = deps;
    const audit = new AuditLog(paths.mcp, clock);
    this.#services = {
      version,
      store,
      library,
      recorder,
      status,
      clock,
      logger,
      changes: new Changes(bus),
      limits: new RateLimits(clock),
      approvals: new Approvals(bus, clock, deps.approvalMs),
      audit,
      operations: new Operations(audit, logger),
      calls: new CallLog(logger, clock),
    };
    this.#clients = new ClientRegistry({
      store: new ClientStore(paths.mcp, logger),
      clock,
      onChange: (record) => this.#onClient(record.id),
    });
    this.#socket = new McpSocketServer({
      path: paths.mcpSocket,
      clients: this.#clients,
      clock,
      logger,
      serve: (connection) => this.#serve(connection),
      onCount: () => deps.onChange?.(),
    });
  }

  /** Opens the socket when the setting says so. What keeps MCP from being served is logged; recording matters more. */
  async start(): Promise<void> {
    const { changes } = this.#services;
    changes.start();
    this.#offEvents = changes.on((event) => this.#onEvent(event));
    try {
      await this.#prepare();
      if (this.#deps.enabled()) await this.#socket.open();
      else await this.#socket.removeStale();
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'mcp: not served');
    }
  }

  /** Disconnects everyone; work that has begun is finished first. */
  async stop(): Promise<void> {
    const { changes, operations, audit } = this.#services;
    await this.#close();
    await operations.stop();
    this.#offEvents?.();
    changes.stop();
    if (this.#isPrepared) await this.#clients.stop();
    await audit.stop();
  }

  async enable(): Promise<void> {
    await this.#prepare();
    const wasOpen = this.#socket.isOpen;
    await this.#socket.open();
    try {
      if (!this.#deps.enabled()) await this.#deps.setEnabled(true);
    } catch (error) {
      if (!wasOpen) await this.#socket.close();
      throw error;
    }
    this.#deps.onChange?.();
  }

  /** Disconnects everyone at once, also when the setting cannot be kept. */
  async disable(): Promise<void> {
    await this.#close();
    if (this.#deps.enabled()) await this.#deps.setEnabled(false);
    this.#deps.onChange?.();
  }

  /** Opens or closes the socket as the setting now says. */
  async follow(): Promise<void> {
    try {
      if (this.#deps.enabled()) await this.enable();
      else await this.disable();
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'mcp: not served');
    }
  }

  state(): { enabled: boolean; socket: string | null; connections: number } {
    const { isReachable, connections } = this.#socket;
    return { enabled: this.#deps.enabled(), socket: isReachable ? this.#deps.paths.mcpSocket : null, connections };
  }

  /** What its user has to know, without times. */
  warnings(): Omit<Warning, 'at'>[] {
    const aside = this.#clients.setAside;
    if (aside === undefined) return [];
    const message = `The list of MCP clients could not be read, so no client has access; it is kept as ${aside}.`;
    return [
      { code: 'mcp_clients_damaged', message, hint: 'Connect the hosts again, each with its limits: `ambientctl mcp connect HOST`.' },
    ];
  }

  async clients(): Promise<readonly McpClient[]> {
    return this.#clients.list(this.#connectionsOf);
  }

  async create(init: NewClient): Promise<{ client: McpClient; token: string }> {
    await this.#prepare();
    return this.#clients.create(init);
  }

  /** @throws AmbientError `not_found`, `ambiguous`; `conflict` for a revoked client */
  set(id: string, change: ClientChange): Promise<McpClient> {
    return this.#clients.set(id, change, this.#connectionsOf);
  }

  /** @throws AmbientError `not_found`, `ambiguous` */
  revoke(id: string): Promise<McpClient> {
    return this.#clients.revoke(id);
  }

  /** The last entries, oldest first. */
  audit(limit: number): Promise<readonly AuditEntry[]> {
    return this.#services.audit.tail(limit);
  }

  approvals(): readonly Approval[] {
    return this.#services.approvals.pending();
  }

  /** @throws AmbientError `not_found` when it is unknown or no longer pending */
  async decide(id: string, decision: 'approve' | 'deny'): Promise<Approval> {
    await this.#recheck(id);
    return this.#services.approvals.decide(id, decision);
  }

  /** Calls and connections that hold something now; for tests and diagnosis. */
  load(): { connections: number; strangers: number; waiting: number } {
    const { connections, strangers } = this.#socket;
    return { connections, strangers, waiting: this.#services.changes.waiting };
  }

  /** Loads what is kept on disk, once. Until it can be read nobody gets in and nothing is overwritten. */
  async #prepare(): Promise<void> {
    if (this.#isPrepared) return;
    await this.#clients.start();
    await this.#services.audit.start();
    for (const session of await this.#deps.store.list()) this.#known.set(session.id, session);
    this.#isPrepared = true;
  }

  readonly #connectionsOf = (id: string): number => this.#socket.connectionsOf(id).length;

  #serve(connection: Connection): void {
    const { clientId, transport } = connection;
    const { store, recorder, logger } = this.#services;
    this.#clients.touch(clientId);
    const link = new Link({
      client: () => this.#clients.current(clientId),
      sessions: (client) => new ScopedSessions(store, recorder, () => client.scope),
      ended: transport.ended,
      used: () => this.#clients.touch(clientId),
    });
    this.#links.set(connection, link);
    transport.ended.addEventListener('abort', () => this.#links.delete(connection), { once: true });
    serveStdio(({ era }) => buildServer(era, link, this.#services), {
      transport,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => logger.debug({ problem: error.message.slice(0, 120) }, 'mcp: connection'),
    });
  }

  /** A client's record changed: it is cut off, or told that what it may see is another. */
  #onClient(id: string): void {
    const { approvals, limits } = this.#services;
    const client = this.#clients.current(id);
    if (client === undefined) {
      limits.forget(id);
      // From here on nothing else of this client is answered; what waits for the user is told that it did not happen.
      const cut = (): void => {
        if (this.#clients.current(id) === undefined) this.#socket.cut(id);
      };
      if (approvals.withdrawAll(id) === 0) cut();
      else void answersSent().then(cut);
      return;
    }
    for (const { clientId, approval } of approvals.waiting()) {
      if (clientId !== id || approval.session === null) continue;
      const session = this.#known.get(approval.session) ?? { id: approval.session, started_at: null, tags: [] };
      if (!inScope(client.scope, session)) approvals.withdraw(approval.id, 'gone');
      else if (client.access === 'trusted') approvals.release(approval.id);
    }
    for (const [connection, link] of this.#links) if (connection.clientId === id) link.listsChanged();
  }

  /** Answers what waits for the user, then disconnects everyone. */
  async #close(): Promise<void> {
    if (this.#services.approvals.withdrawAll() > 0) await answersSent();
    await this.#socket.close();
    this.#services.approvals.withdrawAll();
  }

  /** A session changed: clients that cannot see it any more have nothing to ask about it. */
  #withdrawUnseen(session: Scoped): void {
    const { approvals } = this.#services;
    for (const { clientId, approval } of approvals.waiting()) {
      const scope = this.#clients.current(clientId)?.scope;
      if (approval.session === session.id && scope !== undefined && !inScope(scope, session)) approvals.withdraw(approval.id, 'gone');
    }
  }

  /** Withdraws the approval when its session is not there any more for the client that asked. */
  async #recheck(id: string): Promise<void> {
    const { approvals, store, recorder } = this.#services;
    const found = approvals.waiting().find(({ approval }) => approval.id === id);
    const session = found?.approval.session;
    if (found === undefined || session === undefined || session === null) return;
    const scope = this.#clients.current(found.clientId)?.scope;
    if (scope === undefined) return;
    if (!(await new ScopedSessions(store, recorder, () => scope).exists(session))) approvals.withdraw(id, 'gone');
  }

  #onEvent(event: DaemonEvent): void {
    let known: Known | undefined;
    if (event.type === 'session') {
      const { id, name, started_at, tags } = event.session;
      known = this.#known.get(id);
      this.#known.set(id, { id, name, started_at, tags });
      this.#withdrawUnseen(event.session);
    } else if (event.type === 'removed') {
      known = this.#known.get(event.session);
      this.#known.delete(event.session);
      for (const { approval } of this.#services.approvals.waiting())
        if (approval.session === event.session) this.#services.approvals.withdraw(approval.id, 'gone');
    }
    for (const link of this.#links.values()) link.take(event, known);
  }
}

/** Answers that were decided a moment ago have reached their sockets when this resolves. */
async function answersSent(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
