import type { Check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { checkHome } from './home.js';
import { checkNode } from './node.js';
import { checkSockets } from './sockets.js';
import { checkTools } from './tools.js';
import { failure, type LocalCheck, ok, warning } from './types.js';

/** Checks that need no daemon, in the order shown. A new one is a file beside this, named here. */
const localChecks: readonly LocalCheck[] = [checkNode, checkHome, checkSockets, checkTools];

/** Every check: ours, then the daemon's when it runs. Where both look at the same matter, the daemon knows better. */
export async function allChecks(context: CliContext): Promise<Check[]> {
  const local = (await Promise.all(localChecks.map((check) => check(context)))).flat();
  const daemon = await daemonChecks(context);
  const known = new Set(daemon.map(({ id }) => id));
  return [...local.filter(({ id }) => !known.has(id)), ...daemon];
}

async function daemonChecks({ client }: CliContext): Promise<Check[]> {
  const [id, title] = ['daemon', 'Daemon'];
  if (!(await client.isAlive()))
    return [warning(id, title, 'not running, so nothing more can be checked', 'Start it with `ambientctl daemon start`.')];
  try {
    const { pid, version } = await client.call('status', {});
    const { checks } = await client.call('doctor', {}, { timeoutMs: 120_000 });
    return [ok(id, title, `running, pid ${pid}, version ${version}`), ...checks];
  } catch (error) {
    return [failure(id, title, (error as Error).message, 'See `ambientctl daemon logs`; `ambientctl daemon stop` ends it.')];
  }
}
