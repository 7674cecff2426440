import { lstat } from 'node:fs/promises';
import { probe } from '@ambient/client';
import type { Check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { failure, type LocalCheck, ok, warning } from './types.js';

export const checkSockets: LocalCheck = async (context) => {
  const { controlSocket, mcpSocket } = context.paths;
  return [
    ...(await folder(context)),
    ...(await socket('socket.control', 'Control socket', controlSocket)),
    ...(await socket('socket.mcp', 'MCP socket', mcpSocket)),
  ];
};

async function folder({ paths }: CliContext): Promise<Check[]> {
  const [id, title] = ['socket.folder', 'Folder of the sockets'];
  const info = await lstat(paths.run).catch(() => undefined);
  if (info === undefined) return [];
  const detail = `${paths.run}, mode ${(info.mode & 0o777).toString(8)}`;
  if (!info.isDirectory() || info.uid !== (process.getuid?.() ?? info.uid))
    return [failure(id, title, `${paths.run} is not a folder of this user's own`, `Remove ${paths.run} and start the daemon again.`)];
  if ((info.mode & 0o077) !== 0) return [failure(id, title, `${detail}: others can reach the sockets`, `Run: chmod 700 '${paths.run}'`)];
  return [ok(id, title, detail)];
}

async function socket(id: string, title: string, path: string): Promise<Check[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return [];
  const mode = (info.mode & 0o777).toString(8);
  if (!info.isSocket()) return [failure(id, title, `${path} is no socket`, `Move ${path} away and start the daemon again.`)];
  if ((info.mode & 0o077) !== 0) return [failure(id, title, `${path} has mode ${mode}: others can connect`, `Run: chmod 600 '${path}'`)];
  if (!(await probe(path)))
    return [
      warning(
        id,
        title,
        `${path} is left over: nothing answers on it`,
        'The next start of the daemon removes it: `ambientctl daemon start`.',
      ),
    ];
  return [ok(id, title, `${path}, mode ${mode}`)];
}
