import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A sound server of a test's own: two null sinks, `mic` (whose monitor is the default microphone) and `speakers` (the default output). */
export interface PrivatePulse {
  /** Variables that make programs use this server and no other. */
  readonly env: Readonly<Record<string, string>>;
  pactl(...args: string[]): Promise<string>;
  /** Adds a null sink. @returns its module's index, for `unload-module` */
  addSink(name: string): Promise<string>;
  /** Plays a file to its end. */
  play(file: string, sink: string): Promise<void>;
  /** Plays a file until stopped; ends with the server otherwise. */
  playing(file: string, sink: string): { stop(): void };
  /** Unloads the module of a sink, as if the device were unplugged. */
  removeSink(name: string): Promise<void>;
  stop(): Promise<void>;
}

const SCRIPT = (socket: string): string => `
load-module module-native-protocol-unix auth-anonymous=1 socket=${socket}
load-module module-null-sink sink_name=mic rate=48000
load-module module-null-sink sink_name=speakers rate=48000
set-default-sink speakers
set-default-source mic.monitor
`;
const READY_MS = 10_000;

/** Starts a PulseAudio daemon in a temporary folder. */
export async function startPulse(): Promise<PrivatePulse> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'pa-'));
  const socket = path.join(dir, 'native');
  const script = path.join(dir, 'script.pa');
  await mkdir(path.join(dir, 'home'));
  await writeFile(script, SCRIPT(socket));
  const env = { XDG_RUNTIME_DIR: dir, HOME: path.join(dir, 'home'), PULSE_SERVER: `unix:${socket}`, LC_ALL: 'C' };
  const all = { ...process.env, ...env };
  // As root it prints a warning and runs all the same.
  const args = ['--daemonize=no', '--exit-idle-time=-1', '--system=false', '--use-pid-file=no', '-n', '-F', script];
  const server = spawn('pulseaudio', args, { env: { ...all, PULSE_SERVER: '' }, stdio: 'ignore' });
  const children = new Set<ChildProcess>();
  const pactl = async (...words: string[]): Promise<string> => (await run('pactl', words, { env: all })).stdout.trim();
  const paplay = (file: string, sink: string): ChildProcess => {
    const child = spawn('paplay', ['--latency-msec=50', `--device=${sink}`, file], { env: all, stdio: 'ignore' });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  await ready(pactl);
  const sinks = new Map<string, string>();
  return {
    env,
    pactl,
    async addSink(name) {
      const index = await pactl('load-module', 'module-null-sink', `sink_name=${name}`, 'rate=48000');
      sinks.set(name, index);
      return index;
    },
    async removeSink(name) {
      const index = sinks.get(name) ?? (await moduleOf(pactl, name));
      sinks.delete(name);
      await pactl('unload-module', index);
    },
    play: (file, sink) => exited(paplay(file, sink)),
    playing(file, sink) {
      const child = paplay(file, sink);
      return { stop: () => void child.kill() };
    },
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      const gone = exited(server);
      server.kill('SIGTERM');
      const timer = setTimeout(() => server.kill('SIGKILL'), 2000);
      await gone;
      clearTimeout(timer);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function ready(pactl: PrivatePulse['pactl']): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    const sinks = await pactl('list', 'short', 'sinks').catch(() => '');
    if (sinks.includes('speakers')) return;
    if (performance.now() > until) throw new Error('the private PulseAudio did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function moduleOf(pactl: PrivatePulse['pactl'], sink: string): Promise<string> {
  const modules = await pactl('list', 'short', 'modules');
  const index = modules
    .split('\n')
    .find((line) => line.includes(`sink_name=${sink} `))
    ?.split('\t')[0];
  if (index === undefined) throw new Error(`no sink ${sink}`);
  return index;
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
}
