import { readdir } from 'node:fs/promises';
import { CONFIG_KEYS, ConfigSchema, type McpClient, Toolset } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { findClient } from '../mcp/clients.js';
import { HOSTS } from '../mcp/hosts/index.js';
import { localMinute } from '../output/time.js';
import type { Candidate, DynamicValues } from './complete.js';

/** A person is waiting for the Tab key, ms. */
const TIMEOUT_MS = 700;
/** More are no help. */
const MAX_SESSIONS = 200;

/** Asks a daemon that runs; never starts one. What cannot be had in time is left out. */
export function dynamicValues(context: CliContext): DynamicValues {
  const ask = async <T>(question: () => Promise<T>): Promise<T | undefined> => question().catch(() => undefined);
  const options = { timeoutMs: TIMEOUT_MS };
  const sessions = async (): Promise<readonly Candidate[]> => {
    const reply = await ask(() => context.client.call('sessions', { query: { limit: MAX_SESSIONS } }, options));
    const rows =
      reply?.sessions.map(({ id, name, started_at }) => ({
        value: id,
        description: name ?? (started_at === null ? '' : localMinute(started_at)),
      })) ?? (await sessionFolders(context));
    return [{ value: 'last', description: 'the newest session' }, { value: 'live', description: 'the one being recorded' }, ...rows];
  };
  return async (name, before, typed) => {
    switch (name) {
      case 'session':
      case '--session id':
        return sessions();
      case 'key':
        return CONFIG_KEYS.map((value) => ({ value, description: '' }));
      case '--device id': {
        const reply = await ask(() => context.client.call('devices', {}, options));
        return reply?.devices.filter(({ kind }) => kind === 'mic').map(({ id, name }) => ({ value: id, description: name })) ?? [];
      }
      case 'id': {
        const reply = await ask(() => context.client.call('approvals', {}, options));
        return (
          reply?.approvals.filter(({ state }) => state === 'pending').map(({ id, summary }) => ({ value: id, description: summary })) ?? []
        );
      }
      case 'client': {
        const reply = await ask(() => context.client.call('mcp', {}, options));
        return clientCandidates(reply?.clients ?? []);
      }
      case 'host':
        return HOSTS.map(({ id, title }) => ({ value: id, description: title }));
      case '--toolset names':
        return toolsetCandidates(typed);
      case 'value':
        return settingValues(before[0] ?? '').map((value) => ({ value, description: '' }));
      default:
        return undefined;
    }
  };
}

/** Clients by id, and by name where that leads to the same client. */
function clientCandidates(clients: readonly McpClient[]): Candidate[] {
  const known = clients.filter(({ revoked_at }) => revoked_at === null);
  const isNamed = ({ id, name }: McpClient): boolean =>
    known.filter((client) => client.name === name).length === 1 && findClient(clients, name).id === id;
  const names = known.filter(isNamed).map(({ id, name }) => ({ value: name, description: id }));
  return [...names, ...known.map(({ id, name }) => ({ value: id, description: name }))];
}

/** Toolsets come by commas: what stands before the last one stays. */
function toolsetCandidates(typed: string): Candidate[] {
  const chosen = typed.split(',').slice(0, -1);
  const before = chosen.map((name) => `${name},`).join('');
  return Toolset.options.filter((name) => !chosen.includes(name)).map((name) => ({ value: before + name, description: '' }));
}

/** What a setting may be, where that is a short list. */
function settingValues(key: string): string[] {
  const schema = Object.entries(ConfigSchema.shape)
    .find(([name]) => name === key)?.[1]
    .unwrap();
  if (schema === undefined) return [];
  if (schema.safeParse(true).success) return ['true', 'false'];
  if ('options' in schema)
    return schema.options.flatMap((option) => (typeof option === 'string' ? [option] : 'value' in option ? [option.value] : []));
  return [];
}

/** Without a daemon the folders still name the sessions. */
async function sessionFolders({ paths }: CliContext): Promise<readonly Candidate[]> {
  const entries = await readdir(paths.sessions, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => ({ value: name, description: '' }))
    .sort((a, b) => (a.value < b.value ? 1 : -1))
    .slice(0, MAX_SESSIONS);
}
