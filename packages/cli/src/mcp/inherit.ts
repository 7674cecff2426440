import type { McpClient } from '@ambient/contract';
import { describe, type GrantOptions, scopeOf, stateOf } from './clients.js';
import type { HostConfig } from './host-config.js';

/** Where the limits of a profile come from. `inherited` names the profile that had them before. */
export interface LimitsFrom {
  readonly given: boolean;
  readonly inherited: McpClient | undefined;
}

/** The profile that a host had last, whatever became of it. The daemon lists clients in the order they were made in. */
export function lastProfile(clients: readonly McpClient[], { host, profile }: HostConfig): McpClient | undefined {
  return clients.filter(({ id, host: of }) => id === profile || of === host.id).at(-1);
}

/**
 * What a new profile of a host may do: as the options say, else as its last profile might. A profile is made anew for
 * many reasons (a lost credential, 90 days without use), and none of them is a reason to let the host see more.
 */
export function inheritedGrant(
  options: GrantOptions,
  last: McpClient | undefined,
): Partial<Pick<McpClient, 'access' | 'toolsets' | 'scope'>> {
  const access = options.access ?? last?.access;
  const toolsets = options.toolset ?? last?.toolsets;
  const scope = scopeOf(options, last?.scope) ?? last?.scope;
  return {
    ...(access === undefined ? {} : { access }),
    ...(toolsets === undefined ? {} : { toolsets }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** The limits of a profile and where they come from, for people. */
export function limitLines(client: McpClient, from?: LimitsFrom): string[] {
  return [describe(client), ...(from === undefined ? [] : [originOf(from)]), ...offLine(client)];
}

function originOf({ given, inherited }: LimitsFrom): string {
  if (inherited === undefined)
    return given
      ? 'These limits: as given here, the others what any new client has.'
      : 'These limits: what any new client has; none were given.';
  const state = stateOf(inherited);
  const last = `its last profile ${inherited.id}${state === 'revoked' || state === 'expired' ? `, which ${state === 'revoked' ? 'was revoked' : 'has expired'}` : ''}`;
  return given
    ? `These limits: as given here, the others taken over from ${last}.`
    : `These limits: taken over from ${last}. \`ambientctl mcp set ${inherited.host ?? 'CLIENT'}\` changes them.`;
}

function offLine({ id, access }: McpClient): string[] {
  return access === 'disabled' ? [`It is switched off, so it is not let in: \`ambientctl mcp set ${id} --access enabled\` lets it.`] : [];
}
