import type { AmbientClient } from '@ambient/client';
import { type HomePaths, type McpClient, resolveHome } from '@ambient/contract';
import { CredentialError, type CredentialPlace, loadCredential, removeCredential, storeCredential } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { plain } from '../output/text.js';
import { type GrantOptions, grantOf, stateOf } from './clients.js';
import { asAmbientError } from './credential-errors.js';
import { isOwnEntry, launchFor } from './entry.js';
import { HostConfig, hostNamed } from './host-config.js';
import type { Launch } from './hosts/host.js';

export interface ConnectOptions extends GrantOptions {
  readonly print?: boolean;
  readonly name?: string;
  readonly credential?: CredentialPlace;
}

/** What `mcp connect --json` prints. */
export interface ConnectResult {
  readonly host: string;
  readonly file: string;
  readonly profile: string;
  /** False when everything was in place already. */
  readonly changed: boolean;
  readonly backup: string | null;
  readonly enabled: boolean;
}

/** `ambientctl mcp connect HOST`: a profile for the host, its credential put away, and one entry in the host's configuration. */
export async function connect(context: CliContext, hostId: string, options: ConnectOptions): Promise<void> {
  const config = await HostConfig.read(hostNamed(hostId), context);
  if (options.print === true) {
    print(context, config);
    return;
  }
  // An edit that cannot be made is found out before a profile exists.
  config.withLaunch(launchFor(config.profile ?? 'profile', customHome(context)));
  const client = await context.connect();
  const { clients, enabled } = await client.call('mcp', {});
  const profile = await reuse(client, context.paths, clients, config, options);
  if (profile !== undefined) {
    const text = config.withLaunch(launchFor(profile, customHome(context)));
    const changed = text !== config.file.text;
    report(context, config, { profile, changed, enabled, backup: changed ? await config.file.write(text) : null }, undefined);
    return;
  }
  await issue(context, client, clients, config, options, enabled);
}

/** The profile that the host's entry names, when it still lets the host in. */
async function reuse(
  client: AmbientClient,
  paths: HomePaths,
  clients: readonly McpClient[],
  config: HostConfig,
  options: ConnectOptions,
): Promise<string | undefined> {
  const known = clients.find(({ id }) => id === config.profile);
  if (known === undefined || !['active', 'disabled'].includes(stateOf(known))) return undefined;
  const usable = await loadCredential(paths, known.id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CredentialError) return false;
      throw error;
    },
  );
  if (!usable) return undefined;
  const changes = { ...grantOf(options, known.scope), ...(options.name === undefined ? {} : { name: options.name }) };
  if (Object.keys(changes).length > 0) await client.call('mcpSet', { params: { id: known.id }, body: changes });
  return known.id;
}

async function issue(
  context: CliContext,
  client: AmbientClient,
  clients: readonly McpClient[],
  config: HostConfig,
  options: ConnectOptions,
  enabled: boolean,
): Promise<void> {
  const { host, file } = config;
  const replaced = clients.find(({ id }) => id === config.profile);
  const { client: made, token } = await client.call('mcpCreate', {
    body: { name: options.name ?? host.title, host: host.id, ...grantOf(options) },
  });
  const profile = made.id;
  let place: CredentialPlace;
  let backup: string | null;
  try {
    place = await storeCredential(context.paths, profile, token, options.credential);
    backup = await file.write(config.withLaunch(launchFor(profile, customHome(context))));
  } catch (error) {
    await client.call('mcpRevoke', { params: { id: profile } }).catch(() => undefined);
    await removeCredential(context.paths, profile).catch(() => undefined);
    throw asAmbientError(error);
  }
  if (replaced !== undefined) {
    if (replaced.revoked_at === null) await client.call('mcpRevoke', { params: { id: replaced.id } });
    await removeCredential(context.paths, replaced.id);
  }
  report(context, config, { profile, changed: true, enabled, backup }, place);
}

function report(
  context: CliContext,
  config: HostConfig,
  outcome: Pick<ConnectResult, 'profile' | 'changed' | 'backup' | 'enabled'>,
  place: CredentialPlace | undefined,
): void {
  const { host, file, entry, launch } = config;
  const { profile, changed, backup, enabled } = outcome;
  const result: ConnectResult = { host: host.id, file: file.path, profile, changed, backup, enabled };
  context.out.result(result, () => {
    const lines = [
      changed
        ? `${host.title} is connected as profile ${profile}.`
        : `${host.title} is connected already, as profile ${profile}. Nothing was changed.`,
    ];
    if (changed) lines.push(`Written: ${file.path}${backup === null ? '' : ` (before: ${backup})`}`);
    if (changed && entry !== undefined && !isOwnEntry(launch))
      lines.push('An entry called `ambient` that was there before has been replaced.');
    if (place !== undefined)
      lines.push(
        place === 'keychain'
          ? 'Its credential is in your keychain.'
          : `Its credential is in ${context.paths.credentials}/${profile}, for you alone to read.`,
      );
    if (!enabled) lines.push('MCP access is still off: turn it on with `ambientctl mcp enable`.');
    if (changed) lines.push(`Next: ${host.next}`);
    return lines.map(plain).join('\n');
  });
  if (changed) byHandNotes(context, host.byHand?.(launchFor(profile, customHome(context))) ?? []);
}

/** `--print`: what would be written, on stdout; where, and how to do it by hand, beside it. Nothing is made or changed. */
function print(context: CliContext, config: HostConfig): void {
  const launch = launchFor(config.profile ?? 'PROFILE-ID', customHome(context));
  const snippet = config.snippet(launch);
  const byHand = config.host.byHand?.(launch) ?? [];
  context.out.result(
    { host: config.host.id, file: config.file.path, profile: config.profile ?? null, snippet, launch, by_hand: byHand },
    () => snippet,
  );
  notes(context, config, byHand, launch);
}

function notes(context: CliContext, config: HostConfig, byHand: readonly string[], launch: Launch): void {
  context.out.note(plain(`Would go into ${config.file.path}.`));
  byHandNotes(context, byHand);
  if (launch.args.includes('PROFILE-ID'))
    context.out.note('PROFILE-ID stands for the profile that is made when you run this without --print.');
}

function byHandNotes(context: CliContext, byHand: readonly string[]): void {
  for (const line of byHand) context.out.note(plain(`The same by the host's own means: ${line}`));
}

/** The home to name in a host's entry, when the shim would not find it by itself. */
export function customHome(context: CliContext): string | undefined {
  try {
    return resolveHome({ HOME: context.env.HOME }, process.platform) === context.paths.home ? undefined : context.paths.home;
  } catch {
    return context.paths.home;
  }
}
