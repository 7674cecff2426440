import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Check, check, McpClient } from '@ambient/contract';
import type { LocalCheck } from './types.js';

/** A client as it lies on disk: what else there is of it is known to the daemon alone. */
const Kept = McpClient.omit({ expires_at: true, connections: true });

/** The list of MCP clients, read from outside: a daemon that starts sets a damaged one aside, and nobody has access then. */
export const checkClientList: LocalCheck = async ({ paths }) => {
  const file = path.join(paths.mcp, 'clients.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || isWhole(text)) return [];
  return [damaged(file)];
};

function damaged(file: string): Check {
  return check.failure(
    'mcp.clients',
    'List of MCP clients',
    `${file} is damaged: the next start of the daemon sets it aside, and no host has access then.`,
    'Restore it from a backup before that, or start the daemon and connect the hosts again: `ambientctl mcp connect HOST`.',
  );
}

function isWhole(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('clients' in value) || !Array.isArray(value.clients)) return false;
    return value.clients.every((client) => Kept.safeParse(client).success);
  } catch {
    return false;
  }
}
