import path from 'node:path';
import { shimPath } from '@ambient/mcp-shim';
import { type ConfigObject, isConfigObject } from './config/document.js';
import { type Host, type Launch, stringRecord } from './hosts/host.js';

/** How a host has to start the shim for a profile. `home` only when it is not the default one. */
export function launchFor(profile: string, home: string | undefined): Launch {
  return {
    command: process.execPath,
    args: [shimPath(), '--profile', profile],
    env: home === undefined ? {} : { AMBIENT_HOME: home },
  };
}

/** The profile an entry of ours uses, or undefined when the entry is somebody else's. */
export function profileOf(launch: Launch | undefined): string | undefined {
  if (launch === undefined || !isShim([launch.command, ...launch.args])) return undefined;
  const at = launch.args.indexOf('--profile');
  return at === -1 ? undefined : launch.args[at + 1];
}

/** True when an entry starts the shim, whatever its credential. */
export function isOwnEntry(launch: Launch | undefined): boolean {
  return launch !== undefined && isShim([launch.command, ...launch.args]);
}

/** True when an entry of ours holds a token itself; a reference such as `${AMBIENT_MCP_TOKEN}` is none. */
export function holdsToken(launch: Launch | undefined): boolean {
  const token = launch?.env.AMBIENT_MCP_TOKEN;
  return isOwnEntry(launch) && token !== undefined && token.trim() !== '' && !/^\$?\{.*\}$|^\$\w+$/.test(token.trim());
}

function isShim(words: readonly string[]): boolean {
  return words.some((word) => /^ambient-mcp(\.js)?$/.test(path.basename(word)));
}

/**
 * The entry to write over `current`: an entry of ours keeps what its user added to it (a timeout, a switch, a variable),
 * anything else is replaced.
 */
export function mergedEntry(host: Host, current: unknown, launch: Launch, at: readonly string[]): ConfigObject {
  const fresh = host.entry(launch, at);
  if (!isConfigObject(current) || !isOwnEntry(host.launch(current))) return fresh;
  const merged: Record<string, unknown> = { ...current };
  for (const key of host.own) {
    if (key !== 'env' && key !== 'environment') {
      if (Object.hasOwn(fresh, key)) merged[key] = fresh[key];
      continue;
    }
    // The profile's credential is used; a token here would only be one more copy of a secret.
    const { AMBIENT_HOME: _old, AMBIENT_MCP_TOKEN: _token, ...others } = stringRecord(current[key]);
    const env = { ...others, ...launch.env };
    if (Object.keys(env).length > 0 || Object.hasOwn(current, key)) merged[key] = env;
  }
  return merged;
}
