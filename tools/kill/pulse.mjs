/** A private PulseAudio with two null sinks: the monitor of `mic` is the microphone, `speakers` the output. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const READY_MS = 15_000;
const servers = new Set();
process.on('exit', () => {
  for (const child of servers) child.kill('SIGKILL');
});

export class PrivatePulse {
  #dir = mkdtempSync(path.join(tmpdir(), 'pa-'));
  #server;

  /** Variables that make programs use this server and no other. */
  get env() {
    return { XDG_RUNTIME_DIR: this.#dir, HOME: path.join(this.#dir, 'home'), PULSE_SERVER: `unix:${this.#socket}`, LC_ALL: 'C' };
  }

  get #socket() {
    return path.join(this.#dir, 'native');
  }

  /** @throws Error when PulseAudio is not installed or does not start */
  async start() {
    mkdirSync(path.join(this.#dir, 'home'));
    const script = path.join(this.#dir, 'script.pa');
    writeFileSync(
      script,
      [
        `load-module module-native-protocol-unix auth-anonymous=1 socket=${this.#socket}`,
        'load-module module-null-sink sink_name=mic rate=48000',
        'load-module module-null-sink sink_name=speakers rate=48000',
        'set-default-sink speakers',
        'set-default-source mic.monitor\n',
      ].join('\n'),
    );
    const args = ['--daemonize=no', '--exit-idle-time=-1', '--system=false', '--use-pid-file=no', '-n', '-F', script];
    const env = { ...process.env, ...this.env };
    this.#server = spawn('pulseaudio', args, { env: { ...env, PULSE_SERVER: '' }, stdio: 'ignore' });
    this.#server.once('error', () => {});
    servers.add(this.#server);
    const until = performance.now() + READY_MS;
    for (;;) {
      const sinks = await run('pactl', ['list', 'short', 'sinks'], { env }).catch(() => ({ stdout: '' }));
      if (sinks.stdout.includes('speakers')) return;
      if (performance.now() > until) throw new Error('the private PulseAudio does not start');
      await sleep(50);
    }
  }

  /** Plays a file into a sink until the returned function is called. */
  play(file, sink) {
    const child = spawn('paplay', ['--latency-msec=100', `--device=${sink}`, file], {
      env: { ...process.env, ...this.env },
      stdio: 'ignore',
    });
    servers.add(child);
    child.once('exit', () => servers.delete(child));
    return () => child.kill();
  }

  async stop() {
    const server = this.#server;
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGKILL');
      await gone;
    }
    servers.delete(server);
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
