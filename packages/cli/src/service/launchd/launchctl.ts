import { AmbientError } from '@ambient/contract';
import type { Run, RunResult } from '../exec.js';
import { SERVICE_LABEL } from '../host.js';
import { explainLaunchctl, launchctlCode, NOT_LOADED_CODES, SETTLING_CODES } from './errors.js';

/** What `launchctl print` says of a loaded service. */
export interface LoadedService {
  readonly state: string;
  readonly pid: number | null;
  readonly lastExitCode: string | null;
  readonly runs: number;
}

/** bootout returns before the job is gone; measured in the field, launchd needs up to 5 s after ExitTimeOut. */
const SETTLE_MS = 30_000;
const POLL_MS = 500;
/** A job that is loaded is normally spawned at once. */
const SPAWN_MS = 3_000;

export interface LaunchctlOptions {
  /** Waits, ms. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** launchctl for one launch agent of the user's graphical session. */
export class Launchctl {
  readonly #run: Run;
  readonly #domain: string;
  readonly #target: string;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(run: Run, uid: number, label: string = SERVICE_LABEL, options: LaunchctlOptions = {}) {
    this.#run = run;
    this.#domain = `gui/${uid}`;
    this.#target = `gui/${uid}/${label}`;
    this.#sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** The loaded service, or null. @throws AmbientError */
  async print(): Promise<LoadedService | null> {
    const result = await this.#launchctl('print', this.#target);
    if (result.code === 0) return parsePrint(result.stdout);
    if (NOT_LOADED_CODES.includes(launchctlCode(result))) return null;
    throw explainLaunchctl('print', result);
  }

  /**
   * Loads the agent and sees that it was started. Enabled first: a service that was once disabled is refused with 119.
   * Codes 5, 36 and 37 mean that launchd is still removing an older job, and are tried again.
   * @throws AmbientError
   */
  async bootstrap(plist: string): Promise<void> {
    await this.#expect('enable', this.#target);
    for (let waited = 0; ; waited += POLL_MS) {
      const result = await this.#launchctl('bootstrap', this.#domain, plist);
      if (result.code === 0) break;
      const settling = SETTLING_CODES.includes(launchctlCode(result));
      // Another process may have loaded it meanwhile: then there is nothing left to do.
      if (settling && (await this.print()) !== null && waited > 0) break;
      if (!settling || waited >= SETTLE_MS) throw explainLaunchctl('bootstrap', result);
      await this.#sleep(POLL_MS);
    }
    await this.#spawned();
  }

  /** Starts a loaded service that does not run. Never with `-k`, which kills without warning. @throws AmbientError */
  async kickstart(): Promise<void> {
    const result = await this.#launchctl('kickstart', this.#target);
    // 37: it is being started already.
    if (result.code !== 0 && launchctlCode(result) !== 37) throw explainLaunchctl('kickstart', result);
  }

  /** Ends and unloads the service, and waits until launchd has let go of it. @returns false when it was not loaded. @throws AmbientError */
  async bootout(): Promise<boolean> {
    const result = await this.#launchctl('bootout', this.#target);
    const code = launchctlCode(result);
    if (result.code !== 0) {
      if (NOT_LOADED_CODES.includes(code)) return false;
      if (!SETTLING_CODES.includes(code)) throw explainLaunchctl('bootout', result);
    }
    for (let waited = 0; waited <= SETTLE_MS; waited += POLL_MS) {
      if ((await this.print()) === null) return true;
      await this.#sleep(POLL_MS);
    }
    throw new AmbientError(
      'timeout',
      `launchd has not let go of the service within ${SETTLE_MS / 1000} s.`,
      'Run it again; if it stays so, log out and in.',
    );
  }

  /** A loaded agent is sometimes left without a process; kickstart gets it going. */
  async #spawned(): Promise<void> {
    for (let waited = 0; waited <= SPAWN_MS; waited += POLL_MS) {
      const service = await this.print();
      if (service?.state === 'running') return;
      await this.#sleep(POLL_MS);
    }
    await this.kickstart();
  }

  async #expect(verb: string, ...args: readonly string[]): Promise<void> {
    const result = await this.#launchctl(verb, ...args);
    if (result.code !== 0) throw explainLaunchctl(verb, result);
  }

  #launchctl(...args: readonly string[]): Promise<RunResult> {
    return this.#run('launchctl', args);
  }
}

/** Reads the few top-level lines of `launchctl print` that are needed; its format is not a contract. */
export function parsePrint(text: string): LoadedService {
  const value = (key: string): string | undefined => new RegExp(`^\\t?${key} = (.*)$`, 'm').exec(text)?.[1]?.trim();
  const exit = value('last exit code');
  const pid = Number(value('pid'));
  return {
    state: value('state') ?? 'unknown',
    pid: pid > 0 ? pid : null,
    lastExitCode: exit === undefined || exit === '(never exited)' ? null : exit,
    runs: Number(value('runs') ?? 0),
  };
}
