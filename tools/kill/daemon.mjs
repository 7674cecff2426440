/** A daemon that can be killed, in a home that outlives it. */
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AmbientClient } from '../../packages/client/dist/index.js';

const PROGRAM = path.resolve(import.meta.dirname, '../../services/daemon/bin/ambientd.js');
const START_MS = 30_000;
const STOP_MS = 12_000;
/** A recognizer that is loading its model sees the end of its channel when that is done. */
const ORPHANS_MS = 15_000;

/** Whatever ends this program ends its daemons. */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class KillableDaemon {
  /** @param env variables on top of this process's own */
  constructor(home, env) {
    this.home = home;
    this.env = { ...process.env, ...env, AMBIENT_HOME: home };
    this.client = new AmbientClient(path.join(home, 'run/control.sock'));
    this.child = undefined;
    /** Every process that the daemon was seen to have as a child. */
    this.family = new Set();
  }

  get console() {
    return path.join(this.home, 'console.log');
  }

  spawn() {
    const out = openSync(this.console, 'a');
    this.child = spawn(process.execPath, [PROGRAM, 'run'], { env: this.env, stdio: ['ignore', out, out], cwd: this.home });
    closeSync(out);
    const { child } = this;
    running.add(child);
    child.once('exit', () => running.delete(child));
  }

  /** Starts it; resolves when it answers. @throws Error with its last words when it does not */
  async start() {
    if (this.child === undefined || this.ended) this.spawn();
    const { child } = this;
    const until = performance.now() + START_MS;
    while (performance.now() < until) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the daemon did not start: ${readFileSync(this.console, 'utf8').trim().split('\n').at(-1)}`);
      const status = await this.client.call('status', {}, { timeoutMs: 5000 }).catch(() => undefined);
      if (status?.pid === child.pid) return;
      await sleep(25);
    }
    throw new Error(`the daemon does not answer after ${START_MS / 1000} s`);
  }

  get ended() {
    return this.child === undefined || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Kills it at once. @returns when, ms since the epoch; it is gone when this resolves */
  async kill() {
    const { child } = this;
    this.meetFamily();
    const at = Date.now();
    child.kill('SIGKILL');
    await exited(child);
    appendFileSync(this.console, '--- killed\n');
    return at;
  }

  /** Asks it to end. @throws Error when it does not in time */
  async stop() {
    if (this.ended) return;
    const { child } = this;
    this.meetFamily();
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited(child);
    clearTimeout(timer);
    if (child.signalCode === 'SIGKILL') throw new Error('the daemon did not end on SIGTERM');
  }

  /** Its child processes now, `{ pid, command }`; none where there is no /proc. */
  children() {
    return childrenOf(this.child?.pid);
  }

  meetFamily() {
    // It ends at the next event it has to tell, because nobody listens.
    for (const { pid, command } of this.children())
      if (command !== '' && !command.endsWith(' subscribe')) this.family.add(`${pid} ${command}`);
  }

  /** Processes that a daemon which is gone left behind. @returns what still runs after a while */
  async orphans() {
    const until = performance.now() + ORPHANS_MS;
    for (;;) {
      const left = [...this.family].filter((entry) => {
        const [pid, ...command] = entry.split(' ');
        return commandOf(Number(pid)) === command.join(' ');
      });
      if (left.length === 0 || performance.now() > until) return left;
      await sleep(50);
    }
  }
}

function exited(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', resolve));
}

function childrenOf(parent) {
  if (parent === undefined) return [];
  let names;
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const pid = Number(name);
    return parentOf(pid) === parent ? [{ pid, command: commandOf(pid) }] : [];
  });
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command in brackets may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Command line of a process; empty when it is gone, or dead and not yet waited for. */
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
