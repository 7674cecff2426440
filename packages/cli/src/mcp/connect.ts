import type { AmbientClient } from '@ambient/client';
import { AmbientError, type HomePaths, type McpClient, resolveHome } from '@ambient/contract';
import { CredentialError, type CredentialPlace, loadCredential, removeCredential, storeCredential } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { plain } from '../output/text.js';
import { type GrantOptions, grantOf, scopeInWords, stateOf, withSessionIds } from './clients.js';
import { asAmbientError } from './credential-errors.js';
import { holdsToken, isOwnEntry, launchFor } from './entry.js';
import { HostConfig, hostNamed } from './host-config.js';
import { inheritedGrant, type LimitsFrom, lastProfile, limitLines } from './inherit.js';

export interface ConnectOptions extends GrantOptions {
  readonly print?: boolean;
  /** Replace an entry of the same name that is somebody else's. */
  readonly replace?: boolean;
  readonly name?: string;
  readonly credential?: CredentialPlace;
}

/** Stands for a profile that is still to be made. */
const PLACEHOLDER = 'PROFILE-ID';

/** What `mcp connect --json` prints. */
export interface ConnectResult {
  readonly host: string;
  readonly file: string;
  readonly profile: string;
  /** False when the host's configuration was in place already. */
  readonly changed: boolean;
  /** What this run changed of a profile that was there before, in words. */
  readonly limits_changed: readonly string[];
  /** What the profile may do now. */
  readonly limits: Pick<McpClient, 'access' | 'toolsets' | 'scope'>;
  /** The earlier profile that a new one has its limits from, where none were given. */
  readonly limits_from: string | null;
  /** Earlier profiles of this host that have no access any more. */
  readonly revoked: readonly string[];
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
  refuseForeign(config, options);
  config.file.checkWritable();
  config.withLaunch(launchFor(config.profile ?? 'profile', customHome(context)));
  const client = await context.connect();
  const { clients, enabled } = await client.call('mcp', {});
  const granted = await withSessionIds(client, options);
  const known = await reusable(context.paths, clients, config);
  if (known === undefined) {
    await issue(context, client, clients, config, granted, enabled);
    return;
  }
  const { now, changes } = await change(client, known, granted);
  const text = config.withLaunch(launchFor(known.id, customHome(context)));
  const changed = text !== config.file.text;
  const backup = changed ? await config.file.write(text) : null;
  report(context, config, { profile: known.id, changed, limits_changed: changes, revoked: [], enabled, backup }, { client: now });
}

/** An entry that somebody else made is not taken over unasked. */
function refuseForeign({ entry, launch, file }: HostConfig, { replace }: ConnectOptions): void {
  if (entry === undefined || isOwnEntry(launch) || replace === true) return;
  throw new AmbientError(
    'conflict',
    `The entry \`ambient\` in ${file.path} does not start ambient-mcp, so it is somebody else's.`,
    'Nothing was changed. Rename it, or let it be replaced with `--replace`; a backup keeps it.',
  );
}

/** The profile that the host's entry names, when it still lets the host in. */
async function reusable(paths: HomePaths, clients: readonly McpClient[], config: HostConfig): Promise<McpClient | undefined> {
  const known = clients.find(({ id }) => id === config.profile);
  if (known === undefined || !['active', 'disabled'].includes(stateOf(known))) return undefined;
  const usable = await loadCredential(paths, known.id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof CredentialError) return false;
      throw error;
    },
  );
  return usable ? known : undefined;
}

/** Gives `known` what the options say. Returns what it is now, and what of that is different, in words. */
async function change(client: AmbientClient, known: McpClient, options: ConnectOptions): Promise<{ now: McpClient; changes: string[] }> {
  const body = { ...grantOf(options, known.scope), ...(options.name === undefined ? {} : { name: options.name }) };
  if (Object.keys(body).length === 0) return { now: known, changes: [] };
  const words = ({ name, access, toolsets, scope }: McpClient): string[] => [
    `name ${name}`,
    `access ${access}`,
    `tools ${toolsets.join(', ')}`,
    `sees ${scopeInWords(scope)}`,
  ];
  const before = words(known);
  const now = await client.call('mcpSet', { params: { id: known.id }, body });
  return { now, changes: words(now).filter((word) => !before.includes(word)) };
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
  const last = lastProfile(clients, config);
  const { client: made, token } = await client.call('mcpCreate', {
    body: { name: options.name ?? last?.name ?? host.title, host: host.id, ...inheritedGrant(options, last) },
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
  // Whatever the entry says now, the host has one profile: an older one would be access that nobody remembers.
  const revoked: string[] = [];
  for (const old of clients.filter(({ id, host: of }) => id === config.profile || of === host.id)) {
    if (old.revoked_at === null) {
      await client.call('mcpRevoke', { params: { id: old.id } });
      revoked.push(old.id);
      await removeCredential(context.paths, old.id);
    } else if (old.id === config.profile) await removeCredential(context.paths, old.id);
  }
  const from = { given: Object.keys(grantOf(options)).length > 0, inherited: last };
  report(context, config, { profile, changed: true, limits_changed: [], revoked, enabled, backup }, { client: made, place, from });
  if (last === undefined && config.profile !== undefined)
    context.out.note(
      plain(
        `The profile ${config.profile} that the entry named is not known here, so its limits could not be taken over: \`ambientctl mcp set ${profile}\` sets them anew.`,
      ),
    );
}

/** A profile that was made or found. */
interface Profile {
  readonly client: McpClient;
  /** Where its credential was put, when it was made now. */
  readonly place?: CredentialPlace;
  readonly from?: LimitsFrom;
}

type Outcome = Omit<ConnectResult, 'host' | 'file' | 'limits' | 'limits_from'>;

function report(context: CliContext, config: HostConfig, outcome: Outcome, { client, place, from }: Profile): void {
  const { host, file } = config;
  const { profile, changed, enabled } = outcome;
  const { access, toolsets, scope } = client;
  const result: ConnectResult = {
    host: host.id,
    file: file.path,
    ...outcome,
    limits: { access, toolsets, scope },
    limits_from: from?.inherited?.id ?? null,
  };
  context.out.result(result, () => {
    const lines = [...outcomeLines(config, outcome), ...limitLines(client, from)];
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
  if (!changed) return;
  warnings(context, config, outcome.backup);
  byHandNotes(context, host.byHand?.(launchFor(profile, customHome(context))) ?? []);
}

function outcomeLines({ host, file, entry, launch }: HostConfig, outcome: Outcome): string[] {
  const { profile, changed, limits_changed: limits, revoked, backup } = outcome;
  if (!changed && limits.length === 0) return [`${host.title} is connected already, as profile ${profile}. Nothing was changed.`];
  const lines = [`${host.title} is connected${changed ? '' : ' already,'} as profile ${profile}.`];
  if (limits.length > 0) lines.push(`Changed: ${limits.join('; ')}.`);
  lines.push(changed ? `Written: ${file.path}${backup === null ? '' : ` (before: ${backup})`}` : `${file.path} stays as it is.`);
  if (changed && entry !== undefined && !isOwnEntry(launch))
    lines.push(`An entry called \`ambient\` that was there before has been replaced${backup === null ? '' : `; ${backup} holds it`}.`);
  for (const id of revoked) lines.push(`The earlier profile ${id} is revoked.`);
  return lines;
}

function warnings(context: CliContext, { file, launch }: HostConfig, backup: string | null): void {
  if (holdsToken(launch))
    context.out.note(
      plain(
        `The entry held a token in AMBIENT_MCP_TOKEN; it has been taken out. ${backup ?? 'A backup'} still holds it, for you alone to read: delete that file, and revoke the token's client (\`ambientctl mcp list\`).`,
      ),
    );
  if (file.isHardLinked)
    context.out.note(plain(`${file.path} had another name as well (a hard link); what is under that name was not changed.`));
}

/** `--print`: what would be written, on stdout; where, and how to do it by hand, beside it. Nothing is made or changed. */
function print(context: CliContext, config: HostConfig): void {
  const launch = launchFor(config.profile ?? PLACEHOLDER, customHome(context));
  const snippet = config.snippet(launch);
  const means = config.host.byHand?.(launch) ?? [];
  // Encoded in a link, nobody sees what is still to be put in.
  const byHand = config.profile === undefined ? means.filter((line) => line.includes(PLACEHOLDER)) : means;
  context.out.result(
    { host: config.host.id, file: config.file.path, profile: config.profile ?? null, snippet, launch, by_hand: byHand },
    () => snippet,
  );
  notes(context, config, byHand);
  if (byHand.length < means.length)
    context.out.note(`A link that installs the same is shown once there is a profile: run this without --print.`);
}

function notes(context: CliContext, config: HostConfig, byHand: readonly string[]): void {
  context.out.note(plain(`Would go into ${config.file.path}.`));
  if (config.profile !== undefined) byHandNotes(context, byHand);
  else for (const line of byHand) context.out.note(plain(`Template of the same by the host's own means: ${line}`));
  if (config.entry !== undefined && !isOwnEntry(config.launch))
    context.out.note('An entry called `ambient` that is not ours is there: connect replaces it only with --replace.');
  if (config.profile === undefined)
    context.out.note(
      `${PLACEHOLDER} stands for the profile that is made when you run this without --print; with it in place, this lets nobody in.`,
    );
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
