import { z } from 'zod';
import { Approval } from './approvals.js';
import { DeviceList, DeviceName } from './devices.js';
import { DoctorReport } from './doctor.js';
import { AccessLevel, AuditEntry, McpClient, Scope, Toolset } from './mcp.js';
import { CoverageGap, SessionFile, SessionSummary, Transcript, Warning } from './session.js';
import { DaemonStatus, ImportStatus } from './status.js';
import { Track } from './tracks.js';

/** A file played into a track instead of a device. Absolute path. */
const FilePath = z.string().min(1).max(4096);
/** Text that is shown on one line: any Unicode but line breaks and other control characters. */
const label = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), 'holds a line break or another control character; leave it out');
export const SessionName = label(200);
export const SessionTag = label(64);
export const SpeakerName = label(100);
const Empty = z.object({});

export const StartRequest = z.object({
  name: SessionName.nullish(),
  /** Record the microphone (default true). */
  mic: z.boolean().default(true),
  /** Record system audio (default true). */
  system: z.boolean().default(true),
  device: DeviceName.nullish(),
  /** Play these files into the tracks instead of devices; with one given, the other track is off unless given too. */
  room_file: FilePath.nullish(),
  call_file: FilePath.nullish(),
  /** `real`: at the file's own pace; `fast`: as fast as it is taken. */
  pace: z.enum(['real', 'fast']).default('real'),
  /** Stop by itself after this long. */
  seconds: z
    .number()
    .positive()
    .max(7 * 86400)
    .nullish(),
});
export type StartRequest = z.infer<typeof StartRequest>;

export const StartReply = z.object({
  id: z.string(),
  name: z.string().nullable(),
  dir: z.string(),
  started_at: z.string(),
  tracks: z.array(Track),
  /** True when a recording ran already: this is that one, nothing was started. */
  already_running: z.boolean(),
  warnings: z.array(Warning),
});
export type StartReply = z.infer<typeof StartReply>;

export const StopReply = z.object({
  id: z.string(),
  duration_s: z.number(),
  state: z.string(),
  /** What went wrong with the folder of the recording; absent when nothing did. */
  warnings: z.array(Warning).optional(),
});
export type StopReply = z.infer<typeof StopReply>;

export const SearchQuery = z.object({
  q: z.string().max(1000),
  since: z.string().optional(),
  until: z.string().optional(),
  track: Track.optional(),
  speaker: z.string().optional(),
  tag: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(20),
  offset: z.coerce.number().int().min(0).default(0),
});
export type SearchQuery = z.infer<typeof SearchQuery>;

export const SearchMatch = z.object({
  /** Line number from 1; 0 when the match is in the session's own fields. */
  segment: z.number().int(),
  start_ms: z.number().nullable(),
  track: Track.nullable(),
  speaker: z.string().nullable(),
  /** Matched words stand between « and ». */
  snippet: z.string(),
  /** Where it matched. */
  field: z.enum(['text', 'title', 'id', 'tag', 'notes', 'speaker', 'comment']),
});
export type SearchMatch = z.infer<typeof SearchMatch>;

export const SearchReply = z.object({
  sessions: z.array(
    SessionSummary.extend({
      /** The first of them. */
      matches: z.array(SearchMatch),
      /** How many there are. */
      match_count: z.number().int().optional(),
    }),
  ),
  total: z.number().int(),
  has_more: z.boolean(),
  /** Session folders that could not be searched. */
  unavailable: z.number().int(),
});
export type SearchReply = z.infer<typeof SearchReply>;

export const SessionDetail = z.object({
  summary: SessionSummary,
  file: SessionFile.nullable(),
  lines: z.number().int(),
  /** Lines left out of the folded transcript as speakerphone bleed. */
  bleed: z.number().int(),
});
export type SessionDetail = z.infer<typeof SessionDetail>;

export const VerboseLine = z.looseObject({
  /** Line number from 1. */
  segment: z.number().int(),
  track: Track,
  start_ms: z.number(),
  end_ms: z.number(),
  speaker: z.string().nullable(),
  text: z.string(),
  confidence: z.number().nullable(),
  bleed: z.boolean(),
  struck: z.boolean(),
  /** The line is damaged on disk: only its place is known. */
  unreadable: z.boolean().optional(),
});
export type VerboseLine = z.infer<typeof VerboseLine>;

/** A line-shaped query boolean: `?verbatim=true`. */
const QueryFlag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((v) => v === 'true');
const SessionParam = z.object({ session: z.string().max(512) });

type Schema = z.ZodType;
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly body?: Schema;
  readonly reply: Schema;
}

const defineRoutes = <const T extends Record<string, Route>>(routes: T): T => routes;

/** Every route of the control API, by name. The server, the client and the OpenAPI document are made from this table. */
export const routes = defineRoutes({
  status: { method: 'GET', path: '/v1/status', summary: 'What the daemon is doing now', reply: DaemonStatus },
  shutdown: {
    method: 'POST',
    path: '/v1/daemon/stop',
    summary: 'Stop the daemon; a recording is finished first',
    reply: z.object({ pid: z.number().int() }),
  },
  doctor: { method: 'GET', path: '/v1/doctor', summary: 'Checks only the daemon can make', reply: DoctorReport },

  start: { method: 'POST', path: '/v1/recording/start', summary: 'Start a recording', body: StartRequest, reply: StartReply },
  stop: {
    method: 'POST',
    path: '/v1/recording/stop',
    summary: 'Stop the recording',
    body: z.object({ id: z.string().nullish() }),
    reply: StopReply,
  },
  pause: {
    method: 'POST',
    path: '/v1/recording/pause',
    summary: 'Stop listening until resumed; the clock runs on',
    body: Empty,
    reply: DaemonStatus,
  },
  resume: { method: 'POST', path: '/v1/recording/resume', summary: 'Listen again', body: Empty, reply: DaemonStatus },
  mute: {
    method: 'POST',
    path: '/v1/recording/mute',
    summary: 'Mute or unmute one track',
    body: z.object({ track: Track, muted: z.boolean().default(true) }),
    reply: DaemonStatus,
  },

  sessions: {
    method: 'GET',
    path: '/v1/sessions',
    summary: 'Sessions, newest first',
    query: z.object({ limit: z.coerce.number().int().min(1).max(100_000).optional(), offset: z.coerce.number().int().min(0).default(0) }),
    reply: z.object({ sessions: z.array(SessionSummary), total: z.number().int() }),
  },
  session: {
    method: 'GET',
    path: '/v1/sessions/:session',
    summary: 'One session, by id, unique prefix, `last` or `live`',
    params: SessionParam,
    reply: SessionDetail,
  },
  transcript: {
    method: 'GET',
    path: '/v1/sessions/:session/transcript',
    summary: 'Lines from a cursor on; verbatim leaves edits out',
    params: SessionParam,
    query: z.object({ since: z.coerce.number().int().min(0).default(0), verbatim: QueryFlag }),
    reply: Transcript,
  },
  lines: {
    method: 'GET',
    path: '/v1/sessions/:session/lines',
    summary: 'Every published line with its confidence, bleed and struck marks',
    params: SessionParam,
    query: z.object({ verbatim: QueryFlag }),
    reply: z.object({ session: z.string(), lines: z.array(VerboseLine) }),
  },
  coverage: {
    method: 'GET',
    path: '/v1/sessions/:session/coverage',
    summary: 'What was not heard, and why',
    params: SessionParam,
    reply: z.object({ session: z.string(), gaps: z.array(CoverageGap), duration_s: z.number().nullable() }),
  },
  update: {
    method: 'PATCH',
    path: '/v1/sessions/:session',
    summary: 'Change name, tags, notes or pin',
    params: SessionParam,
    body: z.object({
      name: SessionName.nullish(),
      tags: z.array(SessionTag).max(64).optional(),
      notes: z.string().max(100_000).optional(),
      pinned: z.boolean().optional(),
    }),
    reply: SessionDetail,
  },
  nameSpeaker: {
    method: 'POST',
    path: '/v1/sessions/:session/speaker',
    summary: 'Say who speaks on a track or in given lines',
    params: SessionParam,
    body: z.object({
      track: Track.optional(),
      segments: z.array(z.number().int().positive()).max(10_000).optional(),
      speaker: SpeakerName.nullable(),
    }),
    reply: z.object({ edit: z.string(), lines: z.number().int() }),
  },
  strike: {
    method: 'POST',
    path: '/v1/sessions/:session/strike',
    summary: 'Remove what was said in a stretch from audio, text, index and live feed',
    params: SessionParam,
    body: z.object({ from_ms: z.number().min(0), to_ms: z.number().positive(), track: Track.optional() }),
    reply: z.object({
      session: z.string(),
      from_ms: z.number(),
      to_ms: z.number(),
      lines: z.number().int(),
      /** The session ends before the stretch that was asked for. */
      cut: z.boolean().optional(),
    }),
  },
  remove: {
    method: 'DELETE',
    path: '/v1/sessions/:session',
    summary: 'Delete a session with all its files',
    params: SessionParam,
    reply: z.object({ id: z.string() }),
  },
  removeAudio: {
    method: 'DELETE',
    path: '/v1/sessions/:session/audio',
    summary: 'Delete the audio and keep the text',
    params: SessionParam,
    reply: z.object({ id: z.string(), bytes: z.number() }),
  },
  export: {
    method: 'GET',
    path: '/v1/sessions/:session/export',
    summary: 'The transcript as one document',
    params: SessionParam,
    query: z.object({ format: z.enum(['markdown', 'text', 'json']).default('markdown') }),
    reply: z.object({ session: z.string(), format: z.string(), content: z.string() }),
  },

  search: {
    method: 'GET',
    path: '/v1/search',
    summary: 'Search text, titles, ids, tags, notes, comments and speakers',
    query: SearchQuery,
    reply: SearchReply,
  },
  rebuild: {
    method: 'POST',
    path: '/v1/library/rebuild',
    summary: 'Make the index anew from the session folders',
    body: Empty,
    reply: z.object({
      sessions: z.number().int(),
      lines: z.number().int(),
      skipped: z.array(z.object({ id: z.string(), error: z.string() })),
    }),
  },

  import: {
    method: 'POST',
    path: '/v1/imports',
    summary: 'Transcribe audio files',
    body: z.object({ files: z.array(FilePath).min(1).max(1000), name: SessionName.nullish(), split_channels: z.boolean().default(false) }),
    reply: z.object({ imports: z.array(ImportStatus) }),
  },
  imports: {
    method: 'GET',
    path: '/v1/imports',
    summary: 'Imports of this daemon, newest last',
    reply: z.object({ imports: z.array(ImportStatus) }),
  },

  devices: { method: 'GET', path: '/v1/devices', summary: 'Microphones, sinks and recorders found', reply: DeviceList },
  config: {
    method: 'GET',
    path: '/v1/config',
    summary: 'Every setting with its value and where it comes from',
    reply: z.object({
      settings: z.array(
        z.object({
          key: z.string(),
          value: z.unknown(),
          source: z.enum(['environment', 'flag', 'file', 'default']),
          description: z.string(),
        }),
      ),
      unknown: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  },
  setConfig: {
    method: 'PATCH',
    path: '/v1/config',
    summary: 'Set a value; null restores the default',
    body: z.object({ key: z.string(), value: z.unknown() }),
    reply: z.object({ key: z.string(), value: z.unknown() }),
  },

  approvals: {
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Destructive calls that wait for the user',
    reply: z.object({ approvals: z.array(Approval) }),
  },
  decide: {
    method: 'POST',
    path: '/v1/approvals/:id',
    summary: 'Approve or deny',
    params: z.object({ id: z.string() }),
    body: z.object({ decision: z.enum(['approve', 'deny']) }),
    reply: Approval,
  },

  mcp: {
    method: 'GET',
    path: '/v1/mcp',
    summary: 'State of the MCP server and its clients',
    reply: z.object({ enabled: z.boolean(), socket: z.string().nullable(), clients: z.array(McpClient) }),
  },
  mcpEnable: {
    method: 'POST',
    path: '/v1/mcp/enable',
    summary: 'Open mcp.sock',
    body: Empty,
    reply: z.object({ enabled: z.boolean(), socket: z.string().nullable() }),
  },
  mcpDisable: {
    method: 'POST',
    path: '/v1/mcp/disable',
    summary: 'Disconnect every client and remove mcp.sock',
    body: Empty,
    reply: z.object({ enabled: z.boolean(), socket: z.string().nullable() }),
  },
  mcpCreate: {
    method: 'POST',
    path: '/v1/mcp/clients',
    summary: 'Make a client; the token is in this reply and nowhere else',
    body: z.object({
      name: z.string().trim().min(1).max(100),
      host: z.string().nullish(),
      access: AccessLevel.default('enabled'),
      toolsets: z.array(Toolset).min(1).default(['sessions', 'assistant', 'library']),
      scope: Scope.optional(),
    }),
    reply: z.object({ client: McpClient, token: z.string() }),
  },
  mcpSet: {
    method: 'PATCH',
    path: '/v1/mcp/clients/:id',
    summary: 'Change access, toolsets or scope; takes effect on open connections',
    params: z.object({ id: z.string() }),
    body: z.object({
      access: AccessLevel.optional(),
      toolsets: z.array(Toolset).min(1).optional(),
      scope: Scope.optional(),
      name: z.string().trim().min(1).max(100).optional(),
    }),
    reply: McpClient,
  },
  mcpRevoke: {
    method: 'DELETE',
    path: '/v1/mcp/clients/:id',
    summary: 'Revoke a client and cut its connections',
    params: z.object({ id: z.string() }),
    reply: McpClient,
  },
  mcpAudit: {
    method: 'GET',
    path: '/v1/mcp/audit',
    summary: 'Audit entries, newest last',
    query: z.object({ limit: z.coerce.number().int().min(1).max(10_000).default(100) }),
    reply: z.object({ entries: z.array(AuditEntry) }),
  },
});

export type Routes = typeof routes;
export type RouteName = keyof Routes;
type In<T> = T extends Schema ? z.input<T> : never;
type Part<R, K extends string> = R extends { readonly [P in K]: infer S } ? { [P in K]: In<S> } : unknown;

/** What a caller passes for a route: its `params`, `query` and `body`, where it has them. */
export type RouteInput<N extends RouteName> = Part<Routes[N], 'params'> & Part<Routes[N], 'query'> & Part<Routes[N], 'body'>;
export type RouteReply<N extends RouteName> = z.output<Routes[N]['reply']>;
