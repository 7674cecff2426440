import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Check, check, type DoctorReport, type RouteReply } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { holderOf } from '../daemon/holder.js';
import { consoleFile, lastWords } from '../daemon/launch.js';

/** What could be learnt of and from the daemon. */
export interface DaemonView {
  /** Whether it runs, and whether it answers. */
  readonly checks: readonly Check[];
  /** Undefined when none answers. */
  readonly report?: DoctorReport;
  readonly mcp?: RouteReply<'mcp'>;
}

const ID = 'daemon';
const TITLE = 'Daemon';
/** Recorders that hang are waited for one after the other, ms. */
const DOCTOR_TIMEOUT_MS = 120_000;
const CONSOLE_TAIL = 64 * 1024;
const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };

export async function lookAtDaemon(context: CliContext): Promise<DaemonView> {
  const { client } = context;
  if (!(await client.isAlive())) return { checks: [await notAnswering(context)] };
  try {
    const { pid, version } = await client.call('status', {});
    const mcp = await client.call('mcp', {}).catch((error: Error) => error);
    const report = await client.call('doctor', {}, { timeoutMs: DOCTOR_TIMEOUT_MS });
    const detail = `Running, pid ${pid}, version ${version}`;
    const state =
      version === VERSION
        ? check.ok(ID, TITLE, `${detail}.`)
        : check.warning(ID, TITLE, `${detail}; this is version ${VERSION}.`, 'Run `ambientctl daemon restart`.');
    if (!(mcp instanceof Error)) return { checks: [state], report, mcp };
    return { checks: [state, check.warning('mcp', 'MCP access', mcp.message, 'See `ambientctl daemon logs`.')], report };
  } catch (error) {
    const fix = 'See `ambientctl daemon logs`; `ambientctl daemon restart` starts it anew.';
    return { checks: [check.failure(ID, TITLE, (error as Error).message, fix)] };
  }
}

async function notAnswering({ paths }: CliContext): Promise<Check> {
  const pid = await holderOf(paths.home);
  if (pid !== undefined)
    return check.failure(
      ID,
      TITLE,
      `Process ${pid} holds the home, but ${paths.controlSocket} does not answer: it is starting or ending, or the socket was removed.`,
      'Run this again in a moment. If it stays so, run `ambientctl daemon stop`, which keeps everything recorded, then `ambientctl daemon start`.',
    );
  const reason = await lastFailure(paths.logs);
  if (reason !== undefined)
    return check.failure(ID, TITLE, `Not running. The last start failed: ${reason}`, 'Put that right, then `ambientctl daemon start`.');
  return check.warning(
    ID,
    TITLE,
    'not running, so recorders, models and the library could not be tried.',
    'Start it with `ambientctl daemon start`, then run this again.',
  );
}

/** Why the daemon ended at its last start: its console is written after its log only when it could not go on. */
async function lastFailure(logs: string): Promise<string | undefined> {
  const changed = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
  const file = consoleFile(logs);
  const text = (await readFile(file, 'utf8').catch(() => '')).slice(-CONSOLE_TAIL);
  if (text.trim() === '') return undefined;
  const names = (await readdir(logs)).filter((name) => name.startsWith('ambientd'));
  const newest = Math.max(0, ...(await Promise.all(names.map((name) => changed(path.join(logs, name))))));
  // A start that fails writes its reason to the log first, then to the console.
  return (await changed(file)) >= newest ? lastWords(text) : undefined;
}
