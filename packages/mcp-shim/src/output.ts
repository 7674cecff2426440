import type { Writable } from 'node:stream';

/** The host's end: whole JSON-RPC lines and nothing else. */
export class Output {
  readonly #stream: Writable;
  readonly #onPressure: (full: boolean) => void;
  #full = false;

  /** `onPressure(true)` asks for a pause until `onPressure(false)`. */
  constructor(stream: Writable, onPressure: (full: boolean) => void) {
    this.#stream = stream;
    this.#onPressure = onPressure;
    stream.on('drain', () => {
      this.#full = false;
      this.#onPressure(false);
    });
  }

  line(line: string | Buffer): void {
    const bytes = typeof line === 'string' ? `${line}\n` : Buffer.concat([line, NEWLINE]);
    if (this.#stream.write(bytes) || this.#full) return;
    this.#full = true;
    this.#onPressure(true);
  }

  /** Resolves once the host has been handed everything. */
  flushed(): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.write('', () => resolve());
    });
  }
}

const NEWLINE = Buffer.of(0x0a);
