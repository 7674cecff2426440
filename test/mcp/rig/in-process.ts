import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  AmbientError,
  type DaemonStatus,
  type HomePaths,
  homePaths,
  type LiveStatus,
  type RawLine,
  Scope,
  type StartReply,
  StartRequest,
  type StopReply,
  Toolset,
  type Track,
} from '@ambient/contract';
import type { Recorder } from '../../../services/daemon/src/capture/types.js';
import { SqliteLibrary } from '../../../services/daemon/src/library/sqlite-library.js';
import { type McpDeps, McpModule } from '../../../services/daemon/src/mcp/module.js';
import { Bus } from '../../../services/daemon/src/platform/bus.js';
import { type Clock, isoWithOffset, systemClock } from '../../../services/daemon/src/platform/clock.js';
import { silentLogger } from '../../../services/daemon/src/platform/logger.js';
import { FileSessionStore } from '../../../services/daemon/src/sessions/file-session-store.js';
import type { Session } from '../../../services/daemon/src/sessions/types.js';
import type { Rig } from './rig.js';
import { RawLines, SocketClientTransport } from './socket-transport.js';

/** A recorder without audio: it makes real sessions, and lines come when the test says so. */
export class ScriptedRecorder implements Recorder {
  readonly #store: FileSessionStore;
  readonly #bus: Bus;
  readonly #changed: () => void;
  session: Session | undefined;
  speech = false;
  #paused = false;
  #startedMs = 0;
  starts = 0;
  stops = 0;

  constructor(store: FileSessionStore, bus: Bus, changed: () => void) {
    this.#store = store;
    this.#bus = bus;
    this.#changed = changed;
  }

  async start(request: StartRequest): Promise<StartReply> {
    const running = this.session;
    if (running !== undefined) return this.#reply(running, true);
    this.starts++;
    this.#startedMs = performance.now();
    this.session = await this.#store.create({
      name: request.name ?? null,
      origin: 'live',
      startedAt: new Date(),
      model: 'moonshine-base',
      tracks: {
        room: { source: 'mic', recorder: 'sox', device: null, sample_rate: 16_000, offset_ms: 0, samples: 0 },
        call: { source: 'system', recorder: 'parec', device: null, sample_rate: 16_000, offset_ms: 0, samples: 0 },
      },
    });
    this.#changed();
    return this.#reply(this.session, false);
  }

  async stop(id?: string | null): Promise<StopReply> {
    const { session } = this;
    if (session === undefined) throw new AmbientError('not_running', 'Nothing is being recorded.');
    if (id && id !== session.id) throw new AmbientError('conflict', 'Another session is being recorded.');
    this.stops++;
    this.session = undefined;
    this.#paused = false;
    const duration = Math.round(performance.now() - this.#startedMs) / 1000;
    await session.update((draft) => {
      draft.state = 'transcribing';
      draft.duration_s = duration;
      draft.ended_at = isoWithOffset(new Date());
    });
    this.#changed();
    return { id: session.id, duration_s: duration, state: 'transcribing' };
  }

  async pause(): Promise<void> {
    this.#paused = true;
    this.#changed();
  }

  async resume(): Promise<void> {
    this.#paused = false;
    this.#changed();
  }

  async mute(): Promise<void> {}

  live(): LiveStatus | null {
    const { session } = this;
    if (session === undefined) return null;
    const level = { rms_db: -30, peak_db: -20, speech: this.speech, muted: false };
    return {
      id: session.id,
      name: session.file.name,
      started_at: session.file.started_at,
      elapsed_ms: performance.now() - this.#startedMs,
      paused: this.#paused,
      muted: [],
      tracks: ['room', 'call'],
      levels: { room: level, call: { ...level, speech: false } },
      lines: 0,
    };
  }

  levels() {
    return this.live()?.levels ?? {};
  }

  gaps() {
    return [];
  }

  async devices() {
    return { devices: [], recorders: [] };
  }

  async shutdown(): Promise<void> {
    if (this.session !== undefined) await this.stop();
  }

  /** Four times a second in a real recording. */
  emitLevels(): void {
    const live = this.live();
    if (live !== null) this.#bus.emit({ type: 'levels', session: live.id, elapsed_ms: live.elapsed_ms, levels: live.levels });
  }

  #reply({ id, dir, file }: Session, running: boolean): StartReply {
    return { id, dir, name: file.name, started_at: file.started_at, tracks: ['room', 'call'], already_running: running, warnings: [] };
  }
}

export interface InProcess {
  readonly paths: HomePaths;
  readonly bus: Bus;
  readonly store: FileSessionStore;
  readonly recorder: ScriptedRecorder;
  readonly mcp: McpModule;
  /** A finished session with these lines. */
  addSession(init?: { name?: string; lines?: readonly (readonly [Track, string])[]; tags?: string[]; startedAt?: Date }): Promise<Session>;
  /** Stops the module and starts a new one on the same home, as a restarted daemon would. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export type InProcessOptions = Partial<Pick<McpDeps, 'approvalMs'>> & {
  clock?: Clock;
  enabled?: boolean;
  /** Fills the sessions folder before anything starts. */
  prepare?: (paths: HomePaths) => Promise<void>;
};

/** The MCP module on a real socket, real session folders, and a recorder that needs no audio. */
export async function inProcess(options: InProcessOptions = {}): Promise<InProcess> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'amb-'));
  const paths = homePaths(home, process.getuid?.() ?? 0);
  await mkdir(paths.run, { recursive: true, mode: 0o700 });
  await options.prepare?.(paths);
  const clock = options.clock ?? systemClock;
  const logger = silentLogger();
  const bus = new Bus((error) => {
    throw error;
  });
  const store = new FileSessionStore({ dir: paths.sessions, bus, clock, logger });
  await store.start();
  const library = new SqliteLibrary({ dbPath: paths.library, store, bus, clock, logger });
  await library.start();
  const recognizer: DaemonStatus['recognizer'] = { state: 'ready', model: 'moonshine-base', pid: null, error: null };
  const status = async (): Promise<DaemonStatus> => ({
    version: '0.1.0',
    pid: process.pid,
    home,
    started_at: isoWithOffset(new Date()),
    live: recorder.live(),
    awaiting_transcript: 0,
    sessions: (await store.list()).length,
    lag_s: 0.5,
    recognizer,
    imports: [],
    warnings: [],
    mcp: { enabled: true, socket: null, connections: 0 },
    watching: null,
    approvals_pending: 0,
  });
  const changed = (): void => void status().then((now) => bus.emit({ type: 'status', status: now }));
  const recorder = new ScriptedRecorder(store, bus, changed);
  let enabled = options.enabled ?? true;
  const build = (): McpModule =>
    new McpModule({
      paths,
      version: '0.1.0',
      store,
      library,
      recorder,
      status,
      bus,
      clock,
      logger,
      enabled: () => enabled,
      setEnabled: async (value) => {
        enabled = value;
      },
      ...(options.approvalMs === undefined ? {} : { approvalMs: options.approvalMs }),
    });
  let mcp = build();
  await mcp.start();
  return {
    paths,
    bus,
    store,
    recorder,
    get mcp() {
      return mcp;
    },
    async addSession({ name, lines = [], tags = [], startedAt = new Date() } = {}) {
      const session = await store.create({ name: name ?? null, origin: 'import', startedAt, model: 'moonshine-base', tracks: {} });
      for (const [i, [track, text]] of lines.entries()) await session.appendLine(rawLine(track, text, i * 2000));
      await session.update((draft) => {
        draft.tags = tags;
        draft.duration_s = lines.length * 2;
        draft.ended_at = isoWithOffset(new Date(startedAt.getTime() + lines.length * 2000));
      });
      await session.complete();
      return session;
    },
    async restart() {
      await mcp.stop();
      mcp = build();
      await mcp.start();
    },
    async close() {
      await mcp.stop();
      await library.stop();
      await store.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A recognised turn of 1.5 s. */
export function rawLine(track: Track, text: string, startMs: number): RawLine {
  return {
    track,
    start_ms: startMs,
    end_ms: startMs + 1500,
    text,
    confidence: null,
    language: 'en',
    samples: [startMs * 16, (startMs + 1500) * 16],
    model: 'moonshine-base',
  };
}

/** The module as a rig for the contract suites, reached over its socket without a shim. */
export async function inProcessRig(options: InProcessOptions = {}): Promise<Rig & { readonly inner: InProcess }> {
  const inner = await inProcess(options);
  let spoken = 0;
  return {
    inner,
    name: 'socket',
    records: true,
    paths: inner.paths,
    async token({ access = 'enabled', toolsets = Toolset.options, scope } = {}) {
      const init = { name: 'test', access, toolsets: [...toolsets], ...(scope ? { scope: Scope.parse(scope) } : {}) };
      const { client, token } = await inner.mcp.create(init);
      return { id: client.id, token };
    },
    transport: (token) => new SocketClientTransport(inner.paths.mcpSocket, token),
    async pipe(token, input) {
      const lines = await RawLines.open(inner.paths.mcpSocket, token);
      lines.end(input);
      const received: string[] = [];
      for (let line = await lines.next(); line !== undefined; line = await lines.next()) received.push(JSON.stringify(line));
      return received.map((line) => `${line}\n`).join('');
    },
    async start(name) {
      spoken = 0;
      return (await inner.recorder.start(StartRequest.parse({ name: name ?? null }))).id;
    },
    async stop() {
      await inner.recorder.stop();
    },
    pause: () => inner.recorder.pause(),
    resume: () => inner.recorder.resume(),
    async heard() {
      const track = spoken % 2 === 0 ? 'room' : 'call';
      await inner.recorder.session?.appendLine(rawLine(track, `Spoken line ${spoken + 1}.`, spoken * 2000));
      spoken++;
    },
    async finished(id) {
      await (await inner.store.get(id)).complete();
    },
    live: async () => inner.recorder.live()?.id ?? null,
    approvals: async () => inner.mcp.approvals(),
    decide: (id, decision) => inner.mcp.decide(id, decision),
    audit: () => inner.mcp.audit(10_000),
    async set(id, change) {
      await inner.mcp.set(id, { ...change, scope: change.scope === undefined ? undefined : Scope.parse(change.scope) });
    },
    async revoke(id) {
      await inner.mcp.revoke(id);
    },
    close: () => inner.close(),
  };
}
