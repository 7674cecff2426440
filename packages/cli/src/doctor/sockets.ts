import { lstat } from 'node:fs/promises';
import { probe } from '@ambient/client';
import { type Check, check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import type { LocalCheck } from './types.js';

export const checkSockets: LocalCheck = async (context) => {
  const { controlSocket, mcpSocket } = context.paths;
  return [
    ...(await folder(context)),
    ...(await socket('socket.control', 'Control socket', controlSocket, false)),
    ...(await socket('socket.mcp', 'MCP socket', mcpSocket, await probe(controlSocket))),
  ];
};

async function folder({ paths }: CliContext): Promise<Check[]> {
  const [id, title] = ['socket.folder', 'Folder of the sockets'];
  const info = await lstat(paths.run).catch(() => undefined);
  if (info === undefined) return [];
  const mode = (info.mode & 0o777).toString(8);
  if (!info.isDirectory() || info.uid !== ownUid(info.uid))
    return [
      check.failure(id, title, `${paths.run} is not a folder of this user's own.`, `Remove ${paths.run} and start the daemon again.`),
    ];
  if ((info.mode & 0o077) !== 0)
    return [check.failure(id, title, `${paths.run} has mode ${mode}: others can reach the sockets.`, `Run: chmod 700 '${paths.run}'`)];
  return [check.ok(id, title, `${paths.run}, mode ${mode}.`)];
}

/** @param running the daemon answers, so a dead socket is not of one that ended */
async function socket(id: string, title: string, path: string, running: boolean): Promise<Check[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return [];
  const mode = (info.mode & 0o777).toString(8);
  if (!info.isSocket()) return [check.failure(id, title, `${path} is no socket.`, `Move ${path} away and start the daemon again.`)];
  if (info.uid !== ownUid(info.uid))
    return [check.failure(id, title, `${path} belongs to user ${info.uid}.`, `Remove ${path} and start the daemon again.`)];
  if ((info.mode & 0o077) !== 0)
    return [check.failure(id, title, `${path} has mode ${mode}: others can connect.`, `Run: chmod 600 '${path}'`)];
  if (!(await probe(path)))
    return [
      check.warning(
        id,
        title,
        `${path} is left over: nothing answers on it.`,
        running
          ? 'Make it anew: `ambientctl mcp disable`, then `ambientctl mcp enable`.'
          : 'The next start of the daemon removes it: `ambientctl daemon start`.',
      ),
    ];
  return [check.ok(id, title, `${path}, mode ${mode}, answers.`)];
}

function ownUid(fallback: number): number {
  return process.getuid?.() ?? fallback;
}
