import type {
  CoverageGap,
  DeviceList,
  ImportStatus,
  Levels,
  LiveStatus,
  StartReply,
  StartRequest,
  StopReply,
  Track,
} from '@ambient/contract';

/** The one recording. Emits `status`-worthy changes through `onChange`, and `levels` on the bus. */
export interface Recorder {
  start(request: StartRequest): Promise<StartReply>;
  /** @throws AmbientError `not_running`; `conflict` when `id` names another session */
  stop(id?: string | null): Promise<StopReply>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  mute(track: Track, muted: boolean): Promise<void>;
  /** Null when nothing records. */
  live(): LiveStatus | null;
  levels(): Levels;
  gaps(): readonly CoverageGap[];
  devices(): Promise<DeviceList>;
  /** Stops a running recording cleanly; used at shut-down. */
  shutdown(): Promise<void>;
}

export interface Importer {
  /** Checks every file first; queues them and answers at once with one status each. @throws AmbientError for the first bad file */
  import(files: readonly string[], options: { name: string | null; splitChannels: boolean }): Promise<readonly ImportStatus[]>;
  list(): readonly ImportStatus[];
  stop(): Promise<void>;
}
