import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { AmbientError, type HomePaths, homePaths, resolveHome } from '@ambient/contract';

/** Name of the service: launchd label and bundle identifier. */
export const SERVICE_LABEL = 'io.ambient.daemon';

type Env = Readonly<Record<string, string | undefined>>;

/** Everything a service definition needs to know of this machine and user. All paths are absolute. */
export interface ServiceHost {
  readonly platform: string;
  readonly env: Env;
  readonly uid: number;
  /** The user's home folder. */
  readonly userHome: string;
  readonly paths: HomePaths;
  /** The node executable, by a path that survives its next patch release where there is one. */
  readonly node: string;
  /** Its version, such as `v20.19.0`. */
  readonly nodeVersion: string;
  /** The daemon's entry script. */
  readonly script: string;
  readonly version: string;
  /** PATH for the service. */
  readonly path: string;
}

export interface HostOptions {
  readonly platform?: string;
  readonly env?: Env;
  readonly uid?: number;
  readonly execPath?: string;
  readonly nodeVersion?: string;
  readonly script?: string;
  readonly version?: string;
}

/** The host this process runs on; tests override parts. @throws AmbientError `bad_config` without a usable HOME */
export function serviceHost(options: HostOptions = {}): ServiceHost {
  const { platform = process.platform, env = process.env, uid = process.getuid?.() ?? 0, execPath = process.execPath } = options;
  const userHome = env.HOME;
  if (userHome === undefined || !path.isAbsolute(userHome))
    throw new AmbientError('bad_config', 'HOME is not set to an absolute path.', 'Set HOME to your home folder.');
  const node = stableNode(execPath);
  return {
    platform,
    env,
    uid,
    userHome,
    paths: homePaths(resolveHome(env, platform), uid),
    node,
    nodeVersion: options.nodeVersion ?? process.version,
    script: options.script ?? daemonScript(),
    version: options.version ?? cliVersion(),
    path: servicePath(env, node),
  };
}

const require = createRequire(import.meta.url);

function daemonScript(): string {
  return realpathSync(path.join(path.dirname(require.resolve('@ambient/daemon/package.json')), 'bin/ambientd.js'));
}

function cliVersion(): string {
  const { version }: { version: string } = require('../../package.json');
  return version;
}

/**
 * Homebrew deletes the versioned folder of a formula on its next upgrade; `opt/<formula>` keeps pointing to the current
 * one. Other installers keep a version until it is removed by hand, so their path stays as it is.
 */
export function stableNode(execPath: string): string {
  const cellar = /^(.*)\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/.exec(execPath);
  if (cellar === null) return execPath;
  const stable = `${cellar[1]}/opt/${cellar[2]}/bin/node`;
  try {
    return realpathSync(stable) === realpathSync(execPath) ? stable : execPath;
  } catch {
    return execPath;
  }
}

const STANDARD_PATH = ['/opt/homebrew/bin', '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/**
 * PATH for the service: what the user has now (so that sox and ffmpeg are found where they are found in a terminal),
 * without relative and per-shell entries, then the standard folders.
 */
export function servicePath(env: Env, node: string): string {
  const own = (env.PATH ?? '').split(':').filter((dir) => path.isAbsolute(dir) && !isPerShell(dir));
  return [...new Set([path.dirname(node), ...own, ...STANDARD_PATH].map((dir) => path.normalize(dir).replace(/(.)\/+$/, '$1')))].join(':');
}

/** Folders that go with the shell that made them, or that belong to one project. */
function isPerShell(dir: string): boolean {
  return /\/(fnm_multishells|node_modules|node-gyp-bin)\//.test(`${dir}/`);
}
