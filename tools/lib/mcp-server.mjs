// The daemon's MCP server factory outside of the daemon, over a folder of sessions: for tools that need another transport.
import path from 'node:path';

const DIST = '../../services/daemon/dist';
const load = (file) => import(`${DIST}/${file}.js`);
const [{ Approvals }, { AuditLog }, { Changes }, { RateLimits }, { Link }, { Operations }, { ScopedSessions }, { buildServer }] =
  await Promise.all(
    ['approvals', 'audit', 'changes', 'limits', 'link', 'operations', 'scoped-sessions', 'server'].map((name) => load(`mcp/${name}`)),
  );
const [{ Bus }, { systemClock }, { silentLogger }, { FileSessionStore }] = await Promise.all(
  ['platform/bus', 'platform/clock', 'platform/logger', 'sessions/file-session-store'].map(load),
);

/**
 * Makes a factory of servers for one trusted client with every toolset. Nothing is recorded and nothing is indexed.
 * @param {{ sessions: string, state: string }} folders of the sessions, and for the server's own state
 * @returns {Promise<(context: { era: 'legacy' | 'modern' }) => import('@modelcontextprotocol/server').Server>}
 */
export async function mcpServer({ sessions, state }) {
  const bus = new Bus((error) => console.error(error));
  const logger = silentLogger();
  const store = new FileSessionStore({ dir: path.resolve(sessions), bus, clock: systemClock, logger });
  await store.start();
  const audit = new AuditLog(state, systemClock);
  await audit.start();
  const changes = new Changes(bus);
  changes.start();
  const services = {
    version: '0.0.0',
    store,
    library: { search: async () => ({ sessions: [], total: 0, has_more: false, unavailable: 0 }) },
    recorder: { live: () => null },
    status: () => Promise.reject(new Error('nothing records here')),
    clock: systemClock,
    logger,
    changes,
    limits: new RateLimits(systemClock),
    approvals: new Approvals(bus, systemClock),
    audit,
    operations: new Operations(audit, logger),
  };
  const link = new Link({
    client: () => ({
      id: 'tool',
      name: 'tool',
      access: 'trusted',
      toolsets: ['sessions', 'assistant', 'library'],
      scope: { tags: [], since: null, sessions: [] },
    }),
    sessions: (client) => new ScopedSessions(store, services.recorder, () => client.scope),
    ended: new AbortController().signal,
    used: () => undefined,
  });
  return ({ era }) => buildServer(era, link, services);
}
