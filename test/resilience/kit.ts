import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import {
  type DaemonEvent,
  type DaemonStatus,
  type HomePaths,
  homePaths,
  type RawLine,
  SAMPLE_RATE,
  type SessionFile,
  type StartRequest,
  type Track,
} from '@ambient/contract';

const DAEMON = path.join(path.dirname(createRequire(import.meta.url).resolve('@ambient/daemon/package.json')), 'bin/ambientd.js');
const CONVERSATION = fileURLToPath(new URL('../fixtures/conversation/', import.meta.url));
/** The bundled conversation, one file a track. */
export const ROOM = path.join(CONVERSATION, 'room.wav');
export const CALL = path.join(CONVERSATION, 'call.wav');
export const BOTH = { room_file: ROOM, call_file: CALL };
const HEADER_BYTES = 44;

/** Waits until `condition` gives something other than false or undefined, and gives it back. */
export async function until<T>(condition: () => T | false | undefined | Promise<T | false | undefined>, what: string, timeoutMs = 45_000) {
  const end = performance.now() + timeoutMs;
  // Short waits end soon, and long ones take little of what is being waited for.
  for (let pauseMs = 20; ; pauseMs = Math.min(150, pauseMs * 1.2)) {
    const value = await condition();
    if (value !== false && value !== undefined) return value as T;
    if (performance.now() > end) throw new Error(`timed out: ${what}`);
    await sleep(pauseMs);
  }
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built daemon as a process of its own in a home of its own, with every event it sent. */
export class Daemon {
  readonly paths: HomePaths;
  readonly client: AmbientClient;
  readonly events: DaemonEvent[] = [];
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #ended: Promise<Ending> | undefined;
  #listening: AbortController | undefined;
  #output = '';

  constructor(env: Readonly<Record<string, string>> = {}, home = mkdtempSync(path.join(os.tmpdir(), 'amr-'))) {
    this.paths = homePaths(home, process.getuid?.() ?? 0);
    this.client = new AmbientClient(this.paths.controlSocket);
    // What is proved here does not depend on how well it reads.
    this.#env = { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny', ...env };
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** What it wrote to its console. */
  get output(): string {
    return this.#output;
  }

  get ended(): Promise<Ending> {
    return this.#ended ?? Promise.reject(new Error('the daemon was not started'));
  }

  /** Starts it and waits until it answers. @throws Error with its last words when it ends instead */
  async start(): Promise<void> {
    const ended = this.launch();
    let over: Ending | undefined;
    void ended.then((ending) => {
      over = ending;
    });
    while (!(await this.client.isAlive())) {
      if (over !== undefined) throw new Error(`the daemon ended (${over.code ?? over.signal}): ${this.#output}`);
      await sleep(20);
    }
    this.#listening = new AbortController();
    void this.#listen(this.#listening.signal);
  }

  /** Starts it and waits for nothing. */
  launch(): Promise<Ending> {
    this.#output = '';
    const child = spawn(process.execPath, [DAEMON, 'run'], { env: { ...process.env, ...this.#env, AMBIENT_HOME: this.paths.home } });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString('utf8');
      });
    this.#ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    return this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Asks it to end as a service manager does. @returns how it ended and how long that took, ms */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending & { readonly ms: number }> {
    const begun = performance.now();
    this.signal(signal);
    const ending = await this.ended;
    this.#listening?.abort();
    return { ...ending, ms: performance.now() - begun };
  }

  /** Ends it whatever it does and removes its home. */
  async remove(): Promise<void> {
    if (this.#child !== undefined) await this.end('SIGKILL');
    rmSync(this.paths.home, { recursive: true, force: true });
  }

  status(): Promise<DaemonStatus> {
    return this.client.call('status', {});
  }

  async record(request: Partial<StartRequest>): Promise<string> {
    return (await this.client.call('start', { body: request }, { timeoutMs: 60_000 })).id;
  }

  async stopRecording(): Promise<{ id: string; duration_s: number; state: string }> {
    return this.client.call('stop', { body: {} }, { timeoutMs: 60_000 });
  }

  /** Waits until the session's transcript is complete. */
  finished(id: string, timeoutMs?: number): Promise<SessionFile> {
    return until(
      async () => {
        const { file } = await this.client.call('session', { params: { session: id } });
        return file !== null && (file.state === 'done' || file.state === 'interrupted') && file;
      },
      `${id} to be transcribed`,
      timeoutMs,
    );
  }

  async heard(session: string, lines: number): Promise<void> {
    await until(async () => (await this.lines(session)).length >= lines, `${lines} lines of ${session}`);
  }

  async lines(session: string) {
    return (await this.client.call('lines', { params: { session }, query: {} })).lines;
  }

  file(session: string, ...name: string[]): string {
    return path.join(this.paths.sessions, session, ...name);
  }

  sessionFile(session: string): SessionFile {
    return JSON.parse(readFileSync(this.file(session, 'session.json'), 'utf8')) as SessionFile;
  }

  /** Every line on disk; throws on one that is no JSON. */
  rawLines(session: string): RawLine[] {
    return readFileSync(this.file(session, 'raw.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RawLine);
  }

  track(session: string, track: Track): Promise<{ samples: Int16Array; declared: number }> {
    return readWav(this.file(session, 'audio', `${track}.wav`));
  }

  async #listen(signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.client.events({ signal })) this.events.push(event);
    } catch {
      // It was ended while it was being connected to.
    }
  }
}

/** Samples of a 16 kHz mono file of ours, and how many its header declares. */
export async function readWav(file: string): Promise<{ samples: Int16Array; declared: number }> {
  const bytes = await readFile(file);
  const samples = new Int16Array(Math.floor((bytes.length - HEADER_BYTES) / 2));
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(HEADER_BYTES + i * 2);
  return { samples, declared: bytes.readUInt32LE(40) / 2 };
}

/** Writes a 16 kHz mono WAV file. */
export async function writeWav(file: string, samples: Int16Array): Promise<void> {
  const header = Buffer.from((await readFile(ROOM)).subarray(0, HEADER_BYTES));
  header.writeUInt32LE(samples.byteLength + HEADER_BYTES - 8, 4);
  header.writeUInt32LE(samples.byteLength, 40);
  await writeFile(file, Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)]));
}

/** The bundled conversation on one track, `times` over, each followed by silence up to `everySeconds`. */
export async function writeTalk(file: string, times: number, everySeconds = 30): Promise<void> {
  const [room, call] = await Promise.all([ROOM, CALL].map(async (track) => (await readWav(track)).samples));
  const every = everySeconds * SAMPLE_RATE;
  const talk = new Int16Array(times * every);
  for (let n = 0; n < times; n++)
    for (let i = 0; i < (room?.length ?? 0); i++)
      talk[n * every + i] = Math.max(-32768, Math.min(32767, (room?.[i] ?? 0) + (call?.[i] ?? 0)));
  await writeWav(file, talk);
}

/** Resident memory of a process, MiB; 0 when it is gone. */
export function residentMiB(pid: number | null | undefined): number {
  if (pid === null || pid === undefined) return 0;
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** True when every sample of `[fromMs, toMs)` is zero. */
export function silent(samples: Int16Array, fromMs: number, toMs: number): boolean {
  return samples
    .subarray(Math.ceil((fromMs * SAMPLE_RATE) / 1000), Math.floor((toMs * SAMPLE_RATE) / 1000))
    .every((sample) => sample === 0);
}

/** Whether two stretches are equal, sample by sample; a matcher would look at each for minutes. */
export function sameSamples(a: Int16Array, b: Int16Array): boolean {
  return a.length === b.length && a.every((sample, i) => sample === b[i]);
}
