import { access, constants, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError, type Check, check, resolveHome } from '@ambient/contract';
import { CredentialError, loadCredential } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { stateOf } from '../mcp/clients.js';
import { isOwnEntry } from '../mcp/entry.js';
import { HostConfig } from '../mcp/host-config.js';
import type { Host, Launch } from '../mcp/hosts/host.js';
import { HOSTS } from '../mcp/hosts/index.js';
import type { DaemonView } from './daemon.js';

/** The configuration file of each host that has an entry of ours: whether what it starts is there, and is let in. */
export async function checkHosts(context: CliContext, daemon: DaemonView): Promise<Check[]> {
  const { HOME } = context.env;
  if (HOME === undefined || !path.isAbsolute(HOME)) return [];
  return (await Promise.all(HOSTS.map((host) => checkHost(context, host, daemon)))).flat();
}

async function checkHost(context: CliContext, host: Host, daemon: DaemonView): Promise<Check[]> {
  const [id, title] = [`mcp.host.${host.id}`, host.title];
  const connect = `Run \`ambientctl mcp connect ${host.id}\`.`;
  let config: HostConfig;
  try {
    config = await HostConfig.read(host, context);
  } catch (error) {
    if (!(error instanceof AmbientError)) throw error;
    // Broken files of hosts that have nothing to do with us are none of our business.
    if (!(await isOurs(context, host, daemon))) return [];
    return [check.failure(id, title, error.message, `Correct the file, then run \`ambientctl mcp connect ${host.id}\`.`)];
  }
  const { file, launch } = config;
  if (!isOwnEntry(launch) || launch === undefined) {
    const expected = profilesOf(daemon, host.id).some((client) => stateOf(client) === 'active');
    if (!expected) return [];
    return [check.warning(id, title, `A profile was made for it, and ${file.path} has no entry that uses it.`, connect)];
  }
  const fault = (await brokenCommand(launch)) ?? (await brokenAccess(context, config, launch, daemon));
  if (fault === undefined) return [check.ok(id, title, `${file.path} starts ${launch.args[0] ?? launch.command}.`)];
  return [check.failure(id, title, `${file.path}: ${fault}`, connect)];
}

/** What keeps the entry from starting anything. */
async function brokenCommand({ command, args }: Launch): Promise<string | undefined> {
  if (!path.isAbsolute(command)) return `its command is \`${command}\`, which a host started from the desktop does not find.`;
  if (!(await can(command, constants.X_OK))) return `its command ${command} is not there.`;
  // Ours is `node <shim> --profile ID`; a shim that is run by itself has no script.
  const [script] = args;
  if (script === undefined || script.startsWith('-')) return undefined;
  if (!path.isAbsolute(script)) return `it starts ${script}, which is not an absolute path.`;
  return (await can(script, constants.R_OK)) ? undefined : `it starts ${script}, which is not there.`;
}

/** What keeps the started shim out. */
async function brokenAccess(
  context: CliContext,
  { profile }: HostConfig,
  launch: Launch,
  { mcp }: DaemonView,
): Promise<string | undefined> {
  const home = homeOf(context, launch);
  if (home === undefined) return 'its AMBIENT_HOME is not an absolute path.';
  // Another home's clients are known to another daemon; a token in the environment names no profile.
  if (home !== context.paths.home) return undefined;
  if (profile === undefined) return launch.env.AMBIENT_MCP_TOKEN === undefined ? 'its entry names no profile and no token.' : undefined;
  if (mcp !== undefined) {
    const client = mcp.clients.find(({ id }) => id === profile);
    if (client === undefined) return `its profile ${profile} does not exist.`;
    const state = stateOf(client);
    if (state === 'revoked' || state === 'expired') return `its profile ${profile} is ${state}.`;
  }
  try {
    await loadCredential(context.paths, profile);
    return undefined;
  } catch (error) {
    if (error instanceof CredentialError) return error.message;
    throw error;
  }
}

function homeOf({ env }: CliContext, launch: Launch): string | undefined {
  try {
    return resolveHome({ HOME: env.HOME, ...launch.env }, process.platform);
  } catch {
    return undefined;
  }
}

/** True when a profile was made for the host, or its file, broken as it is, names the shim. */
async function isOurs({ env }: CliContext, host: Host, daemon: DaemonView): Promise<boolean> {
  if (profilesOf(daemon, host.id).some(({ revoked_at }) => revoked_at === null)) return true;
  for (const file of host.files({ home: env.HOME ?? '/', platform: process.platform, env }))
    if ((await readFile(file, 'utf8').catch(() => '')).includes('ambient-mcp')) return true;
  return false;
}

function profilesOf({ mcp }: DaemonView, host: string) {
  return (mcp?.clients ?? []).filter((client) => client.host === host);
}

function can(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
