import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Check, HomePaths } from '@ambient/contract';
import { homePaths } from '@ambient/contract';
import { type Ended, runHere } from '../cli/support/ambientctl.js';

/** A home and a user's own folder for a test, with the built programs run on them. */
export interface DoctorKit {
  /** The user's folder, which holds the hosts' configuration. */
  readonly user: string;
  readonly paths: HomePaths;
  readonly env: Readonly<Record<string, string>>;
  /** Runs `ambientctl`. @throws when it does not exit 0 */
  run(...args: string[]): Promise<Ended>;
  /** Runs `ambientctl doctor --json`. */
  doctor(env?: Readonly<Record<string, string>>): Promise<Report>;
  remove(): Promise<void>;
}

export interface Report {
  readonly code: number | null;
  readonly checks: readonly Check[];
  /** The check with this id. @throws when there is none */
  get(id: string): Check;
  /** Ids of the checks that are not ok. */
  readonly faults: readonly string[];
}

/** @param env what the daemon and ambientctl run with, besides PATH and the folders */
export async function openDoctorKit(env: Readonly<Record<string, string>> = {}): Promise<DoctorKit> {
  const user = await mkdtemp(path.join(os.tmpdir(), 'doc-'));
  const home = path.join(user, 'h');
  const all = { ...env, HOME: user };
  return {
    user,
    paths: homePaths(home, process.getuid?.() ?? 0),
    env: all,
    async run(...args) {
      const result = await runHere(home, args, { env: all });
      if (result.code !== 0) throw new Error(`ambientctl ${args.join(' ')}: ${result.stderr}`);
      return result;
    },
    async doctor(more = {}) {
      const { code, stdout } = await runHere(home, ['doctor', '--json'], { env: { ...all, ...more } });
      const { checks, healthy } = JSON.parse(stdout) as { checks: Check[]; healthy: boolean };
      if (healthy !== (code === 0)) throw new Error(`exit ${code} although healthy is ${healthy}`);
      for (const { id, status, fix } of checks)
        if ((status === 'ok') !== (fix === undefined)) throw new Error(`${id} is ${status}, fix: ${fix}`);
      return {
        code,
        checks,
        get(id) {
          const found = checks.find((check) => check.id === id);
          if (found === undefined) throw new Error(`no check ${id} among ${checks.map((check) => check.id).join(', ')}`);
          return found;
        },
        faults: checks.filter(({ status }) => status !== 'ok').map(({ id }) => id),
      };
    },
    async remove() {
      await runHere(home, ['daemon', 'stop'], { env: all });
      await killLeftover(home);
      await rm(user, { recursive: true, force: true });
    },
  };
}

/** Ends a daemon that no longer answers, as after a test that failed half way. */
async function killLeftover(home: string): Promise<void> {
  try {
    const { pid } = JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
  } catch {
    // There is none.
  }
}

/** The detail and the fix of a check in one text, to be searched. */
export function said({ detail, fix = '' }: Check): string {
  return `${detail} -> ${fix}`;
}
