import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import type { FromRecognizer, ToRecognizer } from '@ambient/recognizer/protocol';

const require = createRequire(import.meta.url);
/** How much of the child's stderr is kept to explain its end, characters. */
const STDERR_KEPT = 2_000;
/** Turns that can be read at once, and a few more. */
const POOL_THREADS = 20;

export interface RecognizerProcessEvents {
  readonly message: (message: FromRecognizer) => void;
  /** Called once, after the last message. `reason` is in words. */
  readonly exit: (reason: string) => void;
}

/** One run of the recognizer child. It is never restarted: its owner makes a new one. */
export class RecognizerProcess {
  readonly #child: ChildProcess;
  #stderr = '';

  constructor(events: RecognizerProcessEvents) {
    this.#child = fork(require.resolve('@ambient/recognizer/child'), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
      env: { ...process.env, UV_THREADPOOL_SIZE: String(POOL_THREADS) },
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
    this.#child.on('message', (message) => events.message(message as FromRecognizer));
    let ended = false;
    const end = (reason: string): void => {
      if (ended) return;
      ended = true;
      events.exit(reason);
    };
    this.#child.on('error', (error) => end(`it could not be started: ${error.message}`));
    // `close` comes after the channel has been read to its end.
    this.#child.on('close', (code, signal) => end(this.#reason(code, signal)));
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  send(message: ToRecognizer): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Ends it at once; nothing in it is worth keeping. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): string {
    const last = this.#stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    const how = signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`;
    return last === '' ? how : `${how} (${last})`;
  }
}
