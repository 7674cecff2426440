import type { DaemonStatus, Warning } from '@ambient/contract';
import type { DiskMonitor, LiveRecorder } from './capture/index.js';
import type { Importer, Recorder } from './capture/types.js';
import type { ConfigStore } from './config/config-store.js';
import type { McpPort } from './control/ports.js';
import type { Bus } from './platform/bus.js';
import { type Clock, isoWithOffset } from './platform/clock.js';
import { fileStat } from './sessions/file-stat.js';
import type { Retention } from './sessions/retention.js';
import type { SessionStore } from './sessions/types.js';
import type { Transcriber } from './transcription/types.js';

interface StatusDeps {
  readonly version: string;
  readonly home: string;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly config: ConfigStore;
  readonly store: SessionStore;
  readonly recorder: Recorder & Pick<LiveRecorder, 'warnings'>;
  readonly importer: Importer;
  readonly transcriber: Transcriber;
  readonly mcp: McpPort;
  readonly disk: DiskMonitor;
  readonly retention: Retention;
}

/** Changes within this long become one `status` event, ms. */
const SETTLE_MS = 50;

/** What the daemon is doing, gathered from the modules; pushed as a `status` event after a change. */
export class StatusBoard {
  readonly #deps: StatusDeps;
  readonly #startedAt: Date;
  #timer: NodeJS.Timeout | undefined;
  #off: (() => void) | undefined;

  constructor(deps: StatusDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
  }

  start(): void {
    this.#off = this.#deps.bus.on(this, (event) => {
      if (event.type !== 'status' && event.type !== 'levels') this.changed();
    });
  }

  stop(): void {
    this.#off?.();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Something that status shows has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.read().then((status) => this.#deps.bus.emit({ type: 'status', status }));
    }, SETTLE_MS);
  }

  async read(): Promise<DaemonStatus> {
    const { version, home, store, recorder, importer, transcriber, mcp } = this.#deps;
    const sessions = await store.list();
    return {
      version,
      pid: process.pid,
      home,
      started_at: isoWithOffset(this.#startedAt),
      live: recorder.live(),
      awaiting_transcript: sessions.filter((row) => row.state === 'pending' || row.state === 'transcribing').length,
      sessions: sessions.length,
      lag_s: transcriber.lagSeconds(),
      recognizer: transcriber.recognizer(),
      imports: [...importer.list()],
      warnings: await this.#warnings(),
      mcp: mcp.state(),
      watching: null,
      approvals_pending: mcp.approvals().filter((approval) => approval.state === 'pending').length,
    };
  }

  async #warnings(): Promise<Warning[]> {
    const { config, store, transcriber, disk, retention, recorder } = this.#deps;
    const at = isoWithOffset(this.#startedAt);
    const warnings: Warning[] = config
      .warnings()
      .map((message) => ({ code: 'config', message, hint: 'Run `ambientctl config` to see what holds.', at }));
    const drift = await config.drift();
    if (drift !== undefined) warnings.push({ code: 'config_changed', ...drift, at });
    for (const warning of this.#deps.mcp.warnings()) warnings.push({ ...warning, at });
    const { error } = transcriber.recognizer();
    if (error !== null) warnings.push({ code: 'recognizer', message: error, hint: 'Run `ambientctl doctor`.', at });
    const full = await disk.look();
    if (full !== null) warnings.push(full);
    const kept = retention.warning();
    if (kept !== null) warnings.push(kept);
    if ((await fileStat(store.dir)) === undefined) warnings.push({ ...sessionsGone(store.dir), at });
    warnings.push(...recorder.warnings());
    return warnings;
  }
}

function sessionsGone(dir: string): Omit<Warning, 'at'> {
  return {
    code: 'sessions_gone',
    message: `The folder of the sessions, ${dir}, was moved or removed.`,
    hint: 'Put it back. The next recording, or import, makes a new one.',
  };
}
