import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isRunning } from './process.js';

/**
 * Pid of the daemon that holds the home, whether it answers or not: the process that `daemon.json` names, as long as it has
 * the home's lock open. A pid that another program has by now does not count.
 */
export async function holderOf(home: string): Promise<number | undefined> {
  const pid = await namedHolder(home);
  if (pid === undefined || !isRunning(pid)) return undefined;
  try {
    const lock = await realpath(path.join(home, 'daemon.lock'));
    return (await hasOpen(pid, lock)) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** What to say of a daemon that holds the home and cannot be asked. */
export function silentText(pid: number): string {
  return `The daemon (pid ${pid}) runs and does not answer: it is starting or ending, or its socket was removed. Try again in a moment, or end it with \`ambientctl daemon stop\`; what is recorded is kept.`;
}

/** The pid in `daemon.json`, which outlives its process. */
export async function namedHolder(home: string): Promise<number | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8'));
    const pid = typeof value === 'object' && value !== null && 'pid' in value ? value.pid : undefined;
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function hasOpen(pid: number, file: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const folder = `/proc/${pid}/fd`;
    const targets = await Promise.all((await readdir(folder)).map((fd) => readlink(path.join(folder, fd)).catch(() => '')));
    return targets.includes(file);
  }
  const { stdout } = await promisify(execFile)('lsof', ['-t', '--', file]);
  return stdout.split('\n').includes(String(pid));
}
