import { type Check, check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { checkClientList } from './client-list.js';
import { type DaemonView, lookAtDaemon } from './daemon.js';
import { checkDisk } from './disk.js';
import { checkEnvironment } from './environment.js';
import { checkHome } from './home.js';
import { checkHosts } from './hosts.js';
import { checkLibraryFile } from './library-file.js';
import { checkMcp } from './mcp.js';
import { checkNode } from './node.js';
import { checkService } from './service.js';
import { checkSessionFolders } from './session-folders.js';
import { checkSettings } from './settings.js';
import { explainSilence } from './silence.js';
import { checkSockets } from './sockets.js';
import { checkTimezone } from './timezone.js';
import { checkTools, foundHereOnly } from './tools.js';
import type { LocalCheck } from './types.js';

/** Checks that need no daemon, in the order shown. A new one is a file beside this, named here. */
const LOCAL: Readonly<Record<string, LocalCheck>> = {
  node: checkNode,
  environment: checkEnvironment,
  home: checkHome,
  socket: checkSockets,
  service: checkService,
};

/** What the daemon sees better, looked at from outside while there is none. */
const STAND_INS: Readonly<Record<string, LocalCheck>> = {
  config: checkSettings,
  disk: checkDisk,
  library: checkLibraryFile,
  sessions: checkSessionFolders,
  clients: checkClientList,
};

/** Every check: ours, the daemon's when it runs, then those of both. */
export async function allChecks(context: CliContext): Promise<Check[]> {
  const [daemon, local, tools] = await Promise.all([lookAtDaemon(context), runAll(LOCAL, context), run('tool', checkTools, context)]);
  const after = await runAll({ mcp: (given) => checkMcp(given, daemon), hosts: (given) => checkHosts(given, daemon) }, context);
  const seen = await fromDaemon(context, daemon, tools);
  return [...local, ...daemon.checks, ...seen, ...after];
}

async function fromDaemon(context: CliContext, { report }: DaemonView, tools: readonly Check[]): Promise<Check[]> {
  if (report === undefined) return [...tools, ...(await runAll(STAND_INS, context))];
  const { checks, facts } = report;
  if (facts === undefined) return checks;
  return [...foundHereOnly(await explainSilence(context, checks, facts), tools), ...checkTimezone(facts)];
}

async function runAll(checks: Readonly<Record<string, LocalCheck>>, context: CliContext): Promise<Check[]> {
  return (await Promise.all(Object.entries(checks).map(([id, look]) => run(id, look, context)))).flat();
}

/** A check that breaks is a failure that names itself, not the end of the others. */
async function run(id: string, look: LocalCheck, context: CliContext): Promise<readonly Check[]> {
  try {
    return await look(context);
  } catch (error) {
    return [
      check.failure(id, id, `The check itself failed: ${(error as Error).message}`, 'Please report it, with the output of this command.'),
    ];
  }
}
