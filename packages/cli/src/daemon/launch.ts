import { type ChildProcess, spawn } from 'node:child_process';
import { type FileHandle, open, truncate } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AmbientClient, makeFolder } from '@ambient/client';
import { AmbientError, type DaemonStatus, type HomePaths } from '@ambient/contract';
import type { Printer } from '../output/printer.js';
import { installedService } from '../service/installed.js';
import { namedHolder } from './holder.js';
import { isRunning } from './process.js';
import type { DaemonProgram } from './program.js';

/** How long a started daemon may take until it answers, ms. */
const START_PATIENCE_MS = 15_000;
const POLL_MS = 40;
/** The console file starts anew from this size, bytes. */
const CONSOLE_LIMIT = 1024 * 1024;

/** What starting takes; a CliContext has it all. */
interface LaunchContext {
  readonly client: AmbientClient;
  readonly paths: HomePaths;
  readonly daemon: DaemonProgram;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Printer;
}

/** Where a daemon started by us writes stdout and stderr: what it says before its log is open, and how it died. */
export function consoleFile(logs: string): string {
  return path.join(logs, 'console.log');
}

/**
 * Starts the daemon unless one answers.
 * @returns its status, and whether this call started it
 * @throws AmbientError `unavailable` with the daemon's own last words when it ends at once; `timeout` when it never answers
 */
export async function ensureDaemon(context: LaunchContext): Promise<{ status: DaemonStatus; started: boolean }> {
  const running = await statusOf(context.client);
  if (running !== undefined) return { status: running, started: false };
  context.out.note('Starting the daemon…');
  return { status: await launch(context), started: true };
}

/** Asks rather than only connects: a daemon that is just ending still accepts. Undefined when none answers. */
async function statusOf(client: AmbientClient): Promise<DaemonStatus | undefined> {
  try {
    return await client.call('status', {});
  } catch (error) {
    if (error instanceof AmbientError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

async function launch(context: LaunchContext): Promise<DaemonStatus> {
  const service = await installedService(context.env);
  if (service !== undefined) {
    await service.start();
    return context.client.call('status', {}, { timeoutMs: START_PATIENCE_MS });
  }
  const console = await openConsole(context.paths.logs);
  try {
    const child = spawn(context.daemon.command, [...context.daemon.args], {
      detached: true,
      stdio: ['ignore', console.handle.fd, console.handle.fd],
      env: { ...context.env },
      cwd: context.paths.home,
    });
    const ended = endOf(child);
    child.unref();
    return await waitForAnswer(context, child, ended, console);
  } finally {
    await console.handle.close();
  }
}

interface Ending {
  readonly code: number | null;
  readonly error?: Error;
}

function endOf(child: ChildProcess): () => Ending | undefined {
  let ending: Ending | undefined;
  child.once('error', (error) => {
    ending = { code: null, error };
  });
  child.once('exit', (code) => {
    ending ??= { code };
  });
  return () => ending;
}

async function waitForAnswer(
  context: LaunchContext,
  child: ChildProcess,
  ended: () => Ending | undefined,
  console: ConsoleFile,
): Promise<DaemonStatus> {
  const deadline = performance.now() + START_PATIENCE_MS;
  while (performance.now() < deadline) {
    if (await context.client.isAlive()) {
      const status = await context.client.call('status', {}, { timeoutMs: START_PATIENCE_MS }).catch(() => undefined);
      if (status !== undefined) return status;
    }
    const ending = ended();
    // Where another daemon holds the home, that one may be about to answer.
    if (ending !== undefined && ending.code !== 0 && !(await isHeldByAnother(context.paths.home, child.pid)))
      throw await diedAtOnce(ending, console);
    await sleep(POLL_MS);
  }
  const ending = ended();
  if (ending !== undefined) throw await diedAtOnce(ending, console);
  throw new AmbientError(
    'timeout',
    `The daemon (pid ${child.pid}) was started and does not answer after ${START_PATIENCE_MS / 1000} s.`,
    'See `ambientctl daemon logs`.',
  );
}

/** True when `daemon.json` names a living process other than ours as the home's holder. */
async function isHeldByAnother(home: string, ours: number | undefined): Promise<boolean> {
  const pid = await namedHolder(home);
  return pid !== undefined && pid !== ours && isRunning(pid);
}

async function diedAtOnce(ending: Ending, console: ConsoleFile): Promise<AmbientError> {
  if (ending.error !== undefined)
    return new AmbientError('missing_tool', `The daemon cannot be started: ${ending.error.message}.`, 'Install Ambient again.');
  const words = lastWords(await readFrom(console));
  return new AmbientError(
    'unavailable',
    words === undefined ? `The daemon ended at once (exit ${ending.code ?? 'by a signal'}).` : `The daemon did not start: ${words}`,
    'Run `ambientctl daemon run` to watch it start.',
  );
}

/** The last line that says something: of a log line in JSON its message. Stack frames are passed over. */
export function lastWords(output: string): string | undefined {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(at |\^+$|Node\.js v|[{}]$|code: )/.test(line));
  const error = lines.findLast((line) => /^\w*Error\b.*:/.test(line));
  const last = error ?? lines.at(-1);
  if (last === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(last);
    if (typeof value === 'object' && value !== null && 'msg' in value && typeof value.msg === 'string') return value.msg;
  } catch {
    // Not a log line: said as it is.
  }
  return last.replace(/^ambientd: /, '');
}

interface ConsoleFile {
  readonly handle: FileHandle;
  /** Bytes in it before this start. */
  readonly from: number;
}

async function openConsole(logs: string): Promise<ConsoleFile> {
  try {
    await makeFolder(logs);
    const file = consoleFile(logs);
    const handle = await open(file, 'a+', 0o600);
    const { size } = await handle.stat();
    if (size <= CONSOLE_LIMIT) return { handle, from: size };
    await truncate(file);
    return { handle, from: 0 };
  } catch (cause) {
    throw new AmbientError(
      'bad_config',
      `The home cannot be written to: ${(cause as Error).message}.`,
      'Set AMBIENT_HOME to a folder that you can write to.',
      { cause },
    );
  }
}

async function readFrom({ handle, from }: ConsoleFile): Promise<string> {
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size - from, 64 * 1024)), 0, undefined, from);
  return buffer.toString('utf8', 0, bytesRead);
}
