/** How the launch agent starts the application bundle: by its inner executable, or through LaunchServices. */
export type Launch = 'direct' | 'open';

export interface InstallOptions {
  /** macOS only. Default `direct`. */
  readonly launch?: Launch;
  /** macOS only: the signing identity to use; `-` signs ad hoc; without one, a stable local identity is looked for. */
  readonly identity?: string;
  /** macOS only: bring up the permission prompts now (default true). */
  readonly ask?: boolean;
}

export interface InstallReport {
  /** True when anything on disk or in the service manager was changed. */
  readonly changed: boolean;
  /** Files that were written. */
  readonly written: readonly string[];
  /** What the user should know or do, one sentence each. */
  readonly notes: readonly string[];
}

export interface ServiceState {
  readonly kind: 'launchd' | 'systemd';
  /** True when a service file is there and it serves this home. */
  readonly installed: boolean;
  readonly status: 'not_installed' | 'stopped' | 'starting' | 'running' | 'failed';
  readonly pid: number | null;
  /** In one sentence, what the service manager says. */
  readonly detail: string;
  /** The next step, when one is needed. */
  readonly hint?: string;
  /** The plist or unit. */
  readonly file: string;
  /** The home that the installed service file names; null without one. */
  readonly home: string | null;
  /** Why `daemon install` should be run again; empty when the service is up to date. */
  readonly outdated: readonly string[];
  /** macOS: the launch method, the bundle and its signature. */
  readonly macos?: { readonly launch: Launch; readonly bundle: string; readonly signature: string | null };
}

/** The daemon as a service of this user. Every call is idempotent. */
export interface ServiceManager {
  /** True when the service is installed for this home; another home's service does not count. */
  installed(): Promise<boolean>;
  install(options?: InstallOptions): Promise<InstallReport>;
  /** @returns false when nothing was installed */
  uninstall(): Promise<boolean>;
  /** Returns once the service runs. @throws AmbientError with the service manager's reason */
  start(): Promise<void>;
  /** Returns once the service has ended. A recording is finished first. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  state(): Promise<ServiceState>;
}
