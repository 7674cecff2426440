import { createHash } from 'node:crypto';
import { posix as path } from 'node:path';
import { AmbientError } from './ambient-error.js';

/** Longest path a Unix socket may have on every supported platform, in bytes (macOS: 104 with the final NUL). */
export const MAX_SOCKET_PATH = 103;

/** Version of the home's layout. A home made by a later build is refused. */
export const HOME_SCHEMA = 1;

/** Where everything lives. All paths absolute. */
export interface HomePaths {
  readonly home: string;
  readonly sessions: string;
  readonly library: string;
  readonly config: string;
  readonly logs: string;
  readonly models: string;
  /** 0700; holds the sockets and the lock. */
  readonly run: string;
  readonly controlSocket: string;
  readonly mcpSocket: string;
  /** MCP client records (hashes only). */
  readonly mcp: string;
  /** 0600 credential files, where no keychain is. */
  readonly credentials: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folder that holds everything: `AMBIENT_HOME`, else the platform's data folder under HOME.
 * Depends on HOME and AMBIENT_HOME alone, because MCP hosts pass little else to a shim.
 * @throws AmbientError `bad_config` when AMBIENT_HOME is relative or neither variable is set.
 */
export function resolveHome(env: Env, platform: string): string {
  const explicit = env.AMBIENT_HOME;
  if (explicit !== undefined && explicit !== '') {
    if (!path.isAbsolute(explicit))
      throw new AmbientError(
        'bad_config',
        `AMBIENT_HOME is not an absolute path: ${explicit}`,
        'Set AMBIENT_HOME to a path that starts with /.',
      );
    return path.normalize(explicit).replace(/(.)\/+$/, '$1');
  }
  const user = env.HOME;
  if (user === undefined || !path.isAbsolute(user))
    throw new AmbientError(
      'bad_config',
      'Neither AMBIENT_HOME nor HOME is set.',
      'Set AMBIENT_HOME to the folder that should hold everything.',
    );
  return platform === 'darwin' ? path.join(user, 'Library/Application Support/Ambient') : path.join(user, '.local/share/ambient');
}

/**
 * Layout of a home. A home too deep for a Unix socket keeps its sockets in `/tmp/ambient-<uid>-<hash of home>`,
 * a 0700 folder that the daemon refuses when another user owns it.
 */
export function homePaths(home: string, uid: number): HomePaths {
  const inHome = path.join(home, 'run');
  const fits = Buffer.byteLength(path.join(inHome, 'control.sock')) <= MAX_SOCKET_PATH;
  const run = fits ? inHome : `/tmp/ambient-${uid}-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`;
  return {
    home,
    sessions: path.join(home, 'sessions'),
    library: path.join(home, 'library.db'),
    config: path.join(home, 'config.json'),
    logs: path.join(home, 'logs'),
    models: path.join(home, 'models'),
    run,
    controlSocket: path.join(run, 'control.sock'),
    mcpSocket: path.join(run, 'mcp.sock'),
    mcp: path.join(home, 'mcp'),
    credentials: path.join(home, 'credentials'),
  };
}
