import { spawnSync } from 'node:child_process';
import { isConfigObject } from '../config/document.js';
import { configFolder, ENTRY, type Host, type Place, stringRecord, strings } from './host.js';

const V2 = ['mcp', 'servers', ENTRY];
const V1 = ['mcp', ENTRY];

/** Version 2 keeps servers under `mcp.servers`; version 1 keeps them right under `mcp`, and takes nothing else there. */
export const opencode: Host = {
  id: 'opencode',
  title: 'opencode',
  format: 'json',
  files: (place) => ['opencode.json', 'opencode.jsonc'].map((name) => `${configFolder(place)}/opencode/${name}`),
  path: ({ mcp }, place) => {
    if (isConfigObject(mcp) && isConfigObject(mcp.servers)) return V2;
    const servers = isConfigObject(mcp) ? Object.values(mcp) : [];
    const isV1 = servers.some((server) => isConfigObject(server) && (server.type === 'local' || server.type === 'remote'));
    return isV1 || installedMajor(place) === '1' ? V1 : V2;
  },
  entry: ({ command, args, env }, path) => ({
    type: 'local',
    command: [command, ...args],
    ...(path.length === V1.length ? { enabled: true } : {}),
    ...(Object.keys(env).length > 0 ? { environment: env } : {}),
  }),
  launch: (entry) => {
    if (!isConfigObject(entry)) return undefined;
    const [command, ...args] = strings(entry.command);
    return command === undefined ? undefined : { command, args, env: stringRecord(entry.environment) };
  },
  own: ['type', 'command', 'environment'],
  next: 'Start opencode again; `opencode mcp list` shows `ambient`.',
};

/** A file without servers does not tell which version reads it; the program does. */
function installedMajor({ env }: Place): string | undefined {
  const { stdout } = spawnSync('opencode', ['--version'], { env, timeout: 5000, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return /(\d+)\.\d+/.exec(stdout ?? '')?.[1];
}
