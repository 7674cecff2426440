import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type HomePaths, resolveHome } from '@ambient/contract/paths';

/** Asking more often would turn a daemon that cannot start into a busy loop, ms. */
const PAUSE_MS = 60_000;
const UNIT = 'ambientd.service';
const LABEL = 'io.ambient.daemon';

/** Asks launchd or systemd to start an installed daemon. Says nothing when none is installed for this home. */
export class Service {
  readonly #paths: HomePaths;
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: (message: string) => void;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(paths: HomePaths, env: NodeJS.ProcessEnv, log: (message: string) => void) {
    this.#paths = paths;
    this.#env = env;
    this.#log = log;
  }

  /** Fire and forget: the socket's appearance is the answer. */
  async ask(): Promise<void> {
    const now = performance.now();
    if (now - this.#askedAt < PAUSE_MS) return;
    this.#askedAt = now;
    if (!(await this.#isInstalled())) return;
    const uid = process.getuid?.() ?? 0;
    const [command, ...args] =
      process.platform === 'darwin'
        ? ['launchctl', 'kickstart', `gui/${uid}/${LABEL}`]
        : ['systemctl', '--user', '--no-block', 'start', UNIT];
    this.#log(`asking for the daemon: ${[command, ...args].join(' ')}`);
    const child = spawn(command ?? '', args, {
      stdio: 'ignore',
      env: { XDG_RUNTIME_DIR: `/run/user/${uid}`, ...this.#env },
    });
    child.on('error', (error) => this.#log(`${command} cannot be run: ${error.message}`));
    child.unref();
  }

  /** A service file that starts a daemon for this home: one for another home would not help and is none of our business. */
  async #isInstalled(): Promise<boolean> {
    const user = this.#env.HOME ?? '';
    const files =
      process.platform === 'darwin'
        ? [path.join(user, 'Library/LaunchAgents', `${LABEL}.plist`)]
        : [path.join(user, '.config/systemd/user', UNIT), `/etc/systemd/user/${UNIT}`, `/usr/lib/systemd/user/${UNIT}`];
    for (const file of files) {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      return text.includes('AMBIENT_HOME') ? text.includes(this.#paths.home) : this.#isDefaultHome();
    }
    return false;
  }

  #isDefaultHome(): boolean {
    try {
      return resolveHome({ HOME: this.#env.HOME }, process.platform) === this.#paths.home;
    } catch {
      return false;
    }
  }
}
