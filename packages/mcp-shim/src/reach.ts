import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { HomePaths } from '@ambient/contract/paths';
import type { Problem } from './problem.js';

/** A busy machine is slow to accept; a daemon that is gone refuses at once, ms. */
const PROBE_MS = 1000;

/**
 * Undefined when the socket is there and is this user's own. The token is shown to nobody else: a home that is too deep
 * for a socket keeps it under /tmp, where anyone may have been first.
 */
export async function socketProblem(paths: HomePaths): Promise<Problem | undefined> {
  const own = process.getuid?.() ?? -1;
  try {
    const folder = await lstat(path.dirname(paths.mcpSocket));
    if (!folder.isDirectory() || folder.uid !== own) return notOwn(path.dirname(paths.mcpSocket));
    if ((folder.mode & 0o022) !== 0 || (folder.mode & 0o500) !== 0o500) return notPrivate(path.dirname(paths.mcpSocket), folder.mode);
    const socket = await lstat(paths.mcpSocket);
    return socket.isSocket() && socket.uid === own ? undefined : notOwn(paths.mcpSocket);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? notOwn(paths.mcpSocket) : absence(paths);
  }
}

/** Why nobody listens on mcp.sock: no daemon, or a daemon with MCP off. */
export async function absence(paths: HomePaths): Promise<Problem> {
  return (await accepts(paths.controlSocket))
    ? { code: 'mcp_off', message: 'MCP access is turned off in Ambient.', hint: 'Turn it on with `ambientctl mcp enable`.' }
    : { code: 'not_running', message: 'Ambient is not running.', hint: 'Start it with `ambientctl daemon start`.' };
}

export const NOT_YET: Problem = {
  code: 'not_yet',
  message: 'Ambient has not been reached yet.',
  hint: 'If the keychain asks for permission, give it; `ambientctl mcp status` shows the rest.',
};

export const SILENT: Problem = {
  code: 'silent',
  message: 'Ambient runs but does not answer.',
  hint: '`ambientctl daemon logs` shows what it is doing; `ambientctl daemon stop` and `ambientctl daemon start` restart it.',
};

export const BROKEN: Problem = {
  code: 'broken',
  message: 'The connection to Ambient broke before the answer came.',
  hint: 'Try again; `ambientctl daemon logs` says why.',
};

function notOwn(file: string): Problem {
  return {
    code: 'not_own',
    message: `Refusing ${file}: it is not this user's own.`,
    hint: 'Run `ambientctl daemon status` as the user who runs the daemon.',
  };
}

function notPrivate(folder: string, mode: number): Problem {
  return {
    code: 'not_private',
    message: `Refusing ${folder}: its mode is ${(mode & 0o7777).toString(8).padStart(4, '0')}, and it must be for its owner alone.`,
    hint: `Run \`chmod 700 '${folder}'\`.`,
  };
}

/** True when something accepts connections on the socket. Connects and hangs up; sends nothing. */
function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const done = (alive: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(alive);
    };
    const timer = setTimeout(() => done(true), PROBE_MS);
    socket.once('connect', () => done(true));
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EAGAIN'));
  });
}
