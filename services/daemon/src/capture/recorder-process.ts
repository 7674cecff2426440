import { fileURLToPath } from 'node:url';
import { SAMPLE_RATE } from '@ambient/contract';
import lpcm16 from 'node-record-lpcm16';
import { deferred } from './deferred.js';

export type RecorderName = 'sox' | 'arecord' | 'parec' | 'audiotee';

export interface RecorderOptions {
  readonly name: RecorderName;
  /** Absolute path of the program. */
  readonly program: string;
  readonly device: string | null;
  /** SoX only: its audio driver; null takes its default device. */
  readonly driver?: string | null;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RecorderListener {
  samples(pcm: Buffer): void;
  /** The process is gone, everything it wrote has been delivered, and nobody had asked it to end. */
  exited(message: string): void;
  /** One line that the program wrote to stderr. */
  line?(line: string): void;
}

/** A recorder that was asked to end has this long to do so, ms. */
const STOP_GRACE_MS = 700;
const TAIL_CHARS = 2000;

/** One recorder program, driven by node-record-lpcm16. Used once: a restart is a new one. */
export class RecorderProcess {
  readonly #options: RecorderOptions;
  readonly #listener: RecorderListener;
  #recording: ReturnType<typeof lpcm16.record> | undefined;
  #odd: Buffer | undefined;
  #tail = '';
  #partialLine = '';
  #asked = false;
  #failure: string | undefined;
  readonly #first = deferred();
  readonly #closed = deferred();

  constructor(options: RecorderOptions, listener: RecorderListener) {
    this.#options = options;
    this.#listener = listener;
    // Both are waited for only sometimes.
    this.#first.promise.catch(() => {});
  }

  /**
   * Spawns the program and waits for its first samples.
   * @throws Error whose message says why none came within `timeoutMs`; the program is gone by then
   */
  async start(timeoutMs: number): Promise<void> {
    const { name, program, device, driver = null, env = process.env } = this.#options;
    const recording = lpcm16.record({
      recorder: recorderModule(name),
      sampleRate: SAMPLE_RATE,
      channels: 1,
      // A streamed WAV header could not tell the true length.
      audioType: 'raw',
      ...{ program, device, driver, env },
    });
    this.#recording = recording;
    const stream = recording.stream();
    // The library reports every end but a clean exit here, an asked-for one included; `close` below tells more.
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    recording.process.stderr?.on('data', (chunk: Buffer) => this.#hear(chunk.toString('utf8')));
    recording.process.on('error', (error) => {
      this.#failure = error.message;
    });
    recording.process.on('close', (code, signal) => this.#close(code, signal));
    const timer = setTimeout(() => this.#first.reject(new Error(`${name} gives no samples`)), timeoutMs);
    try {
      await this.#first.promise;
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get pid(): number | undefined {
    return this.#recording?.process.pid;
  }

  /** Asks the program to end and delivers what it still had; kills it when it does not answer. */
  async stop(): Promise<void> {
    if (this.#recording === undefined) return;
    this.#asked = true;
    this.#recording.stop();
    const timer = setTimeout(() => this.#recording?.process.kill('SIGKILL'), STOP_GRACE_MS);
    await this.#closed.promise;
    clearTimeout(timer);
  }

  /** Ends the program at once; nothing of it is delivered any more. */
  kill(): void {
    this.#asked = true;
    this.#recording?.stream().removeAllListeners('data');
    this.#recording?.stream().resume();
    this.#recording?.process.kill('SIGKILL');
  }

  #take(chunk: Buffer): void {
    const bytes = this.#odd === undefined ? chunk : Buffer.concat([this.#odd, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    this.#odd = whole === bytes.length ? undefined : bytes.subarray(whole);
    if (whole === 0) return;
    this.#first.resolve();
    this.#listener.samples(bytes.subarray(0, whole));
  }

  #hear(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    const lines = (this.#partialLine + text).split(/[\r\n]+/);
    this.#partialLine = (lines.pop() ?? '').slice(-TAIL_CHARS);
    for (const line of lines) this.#listener.line?.(line);
  }

  #close(code: number | null, signal: NodeJS.Signals | null): void {
    this.#closed.resolve();
    const how = signal === null ? `exit code ${code}` : `by ${signal}`;
    const message = `${this.#options.name} ended: ${this.#failure ?? (lastWords(this.#tail) || how)}`;
    this.#first.reject(new Error(message));
    if (!this.#asked) this.#listener.exited(message);
  }
}

/** The last line of a program's stderr that says something, without control sequences and progress. */
export function lastWords(text: string): string {
  const lines = text
    .replace(/\u001b\[[0-9;]*[A-Za-z]/g, '')
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('Time:'));
  return (lines.at(-1) ?? '').slice(0, 300);
}

/** The recorder modules are CommonJS that the library `require`s, so always the compiled ones, from a test run on sources too. */
function recorderModule(name: RecorderName): string {
  return fileURLToPath(new URL(`../../dist/capture/recorders/${name}.cjs`, import.meta.url));
}
