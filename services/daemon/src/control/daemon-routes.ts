import type { DaemonStatus, DoctorReport, RouteName } from '@ambient/contract';
import type { Importer, Recorder } from '../capture/types.js';
import type { ConfigStore } from '../config/config-store.js';
import type { Library } from '../library/types.js';
import type { Area } from './handlers.js';
import type { McpPort } from './ports.js';

interface RecordingDeps {
  readonly recorder: Recorder;
  readonly importer: Importer;
  readonly status: () => Promise<DaemonStatus>;
}

type RecordingRoutes = Extract<RouteName, 'start' | 'stop' | 'pause' | 'resume' | 'mute' | 'import' | 'imports' | 'devices'>;

export function recordingRoutes({ recorder, importer, status }: RecordingDeps): Area<RecordingRoutes> {
  return {
    start: ({ body }) => recorder.start(body),
    stop: ({ body }) => recorder.stop(body.id),
    async pause() {
      await recorder.pause();
      return status();
    },
    async resume() {
      await recorder.resume();
      return status();
    },
    async mute({ body }) {
      await recorder.mute(body.track, body.muted);
      return status();
    },
    async import({ body }) {
      return { imports: [...(await importer.import(body.files, { name: body.name ?? null, splitChannels: body.split_channels }))] };
    },
    imports: () => ({ imports: [...importer.list()] }),
    devices: () => recorder.devices(),
  };
}

interface DaemonDeps {
  readonly status: () => Promise<DaemonStatus>;
  readonly doctor: () => Promise<DoctorReport>;
  readonly config: ConfigStore;
  readonly library: Library;
  /** Writes the transcript.md of every finished session anew. */
  readonly renewTranscripts: () => Promise<void>;
  /** Asks the daemon to shut down soon; returns at once. */
  readonly requestStop: () => void;
}

type DaemonRoutes = Extract<RouteName, 'status' | 'shutdown' | 'doctor' | 'config' | 'setConfig' | 'search' | 'rebuild'>;

export function daemonRoutes({ status, doctor, config, library, renewTranscripts, requestStop }: DaemonDeps): Area<DaemonRoutes> {
  return {
    status,
    shutdown() {
      requestStop();
      return { pid: process.pid };
    },
    doctor,
    async config() {
      const drift = await config.drift();
      const warnings = [...config.warnings(), ...(drift === undefined ? [] : [`${drift.message} ${drift.hint}`])];
      return { settings: [...config.entries()], unknown: [...config.unknownKeys()], warnings };
    },
    async setConfig({ body }) {
      const { key, value } = await config.set(body.key, body.value);
      return { key, value };
    },
    search: ({ query }) => library.search(query),
    async rebuild() {
      const rebuilt = await library.rebuild();
      await renewTranscripts();
      return rebuilt;
    },
  };
}

type McpRoutes = Extract<
  RouteName,
  'approvals' | 'decide' | 'mcp' | 'mcpEnable' | 'mcpDisable' | 'mcpCreate' | 'mcpSet' | 'mcpRevoke' | 'mcpAudit'
>;

export function mcpRoutes(mcp: McpPort): Area<McpRoutes> {
  const state = () => {
    const { enabled, socket } = mcp.state();
    return { enabled, socket };
  };
  return {
    approvals: () => ({ approvals: [...mcp.approvals()] }),
    decide: ({ params, body }) => mcp.decide(params.id, body.decision),
    async mcp() {
      return { ...state(), clients: [...(await mcp.clients())] };
    },
    async mcpEnable() {
      await mcp.enable();
      return state();
    },
    async mcpDisable() {
      await mcp.disable();
      return state();
    },
    mcpCreate: ({ body }) => mcp.create(body),
    mcpSet: ({ params, body }) => mcp.set(params.id, body),
    mcpRevoke: ({ params }) => mcp.revoke(params.id),
    async mcpAudit({ query }) {
      return { entries: [...(await mcp.audit(query.limit))] };
    },
  };
}
