export { AmbientError } from './ambient-error.js';
export type { Route, RouteInput, RouteName, RouteReply, Routes } from './api.js';
export {
  routes,
  SearchMatch,
  SearchQuery,
  SearchReply,
  SessionDetail,
  SessionName,
  SessionTag,
  SpeakerName,
  StartReply,
  StartRequest,
  StopReply,
  VerboseLine,
} from './api.js';
export { Approval } from './approvals.js';
export type { Config, ConfigKey } from './config.js';
export { CONFIG_KEYS, ConfigSchema, configEnvName, MODELS } from './config.js';
export { Device, DeviceList } from './devices.js';
export { Check, check, DoctorFacts, DoctorReport } from './doctor.js';
export { ErrorBody, ErrorCode, HTTP_STATUS } from './errors.js';
export type { DaemonEventType } from './events.js';
export { DaemonEvent } from './events.js';
export { AccessLevel, AuditEntry, McpClient, McpHandshake, McpHandshakeReply, Scope, Toolset } from './mcp.js';
export type { Misfit, MisfitIssue } from './misfit.js';
export { faultOf, misfit, misfitOf } from './misfit.js';
export type { HomePaths } from './paths.js';
export { HOME_SCHEMA, homePaths, MAX_SOCKET_PATH, resolveHome } from './paths.js';
export {
  CoverageGap,
  CoverageReason,
  Edit,
  Line,
  RawLine,
  SESSION_SCHEMA,
  SessionFile,
  SessionRow,
  SessionState,
  SessionSummary,
  TrackInfo,
  Transcript,
  Warning,
} from './session.js';
export { DaemonStatus, ImportStatus, Level, Levels, LiveStatus } from './status.js';
export { SAMPLE_RATE, SAMPLES_PER_MS, TRACKS, Track } from './tracks.js';
