import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program on a terminal of its own (util-linux's `script` makes it), typed at by a test. */
export class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  #output = '';

  constructor(command: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], { env: { ...env, TERM: 'xterm', COLUMNS: '120' } });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.#child.stdin.on('error', () => {});
  }

  /** What is on the screen since the last key, without escape sequences. */
  get output(): string {
    return this.#output.replace(/\u001b(\[[0-9;?]*[a-zA-Z]|\][^\u0007]*\u0007|[=>()][0AB]?)/g, '').replaceAll('\r', '');
  }

  /** Types, and waits until the screen shows what is expected. */
  async type(keys: string, expected: RegExp, timeoutMs = 30_000): Promise<void> {
    this.#output = '';
    this.#child.stdin.write(keys);
    await this.shows(expected, timeoutMs);
  }

  async shows(expected: RegExp, timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!expected.test(this.output)) {
      if (performance.now() > deadline) throw new Error(`the terminal does not show ${expected}:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGHUP');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 3_000);
    await gone;
    clearTimeout(timer);
  }
}
