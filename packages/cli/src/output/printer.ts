import { toJson } from './json.js';
import { type Paint, paintFor } from './paint.js';

export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What a human rendering needs to know of the terminal. */
export interface View {
  /** Columns, or Infinity where output is not a terminal. */
  readonly width: number;
  readonly paint: Paint;
}

interface PrinterOptions {
  readonly json: boolean;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * All output of a verb. With `--json`, exactly one value goes to stdout and notes are left out; errors go to stderr
 * in both ways (see errors.ts).
 */
export class Printer {
  readonly json: boolean;
  readonly #stdout: TextStream;
  readonly #stderr: TextStream;
  readonly #env: PrinterOptions['env'];

  constructor(options: PrinterOptions) {
    this.json = options.json;
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
    this.#env = options.env;
  }

  /** Terminal of stdout. */
  get view(): View {
    return viewOf(this.#stdout, this.#env);
  }

  /** A verb's result: `value` with `--json`, else the text that `human` makes. Empty text prints nothing. */
  result(value: unknown, human: (view: View) => string): void {
    if (this.json) this.value(value);
    else this.line(human(this.view));
  }

  /** One JSON value, indented for a terminal. */
  value(value: unknown): void {
    this.#stdout.write(`${toJson(value, this.#stdout.isTTY === true ? 2 : 0)}\n`);
  }

  /** Text for people on stdout; nothing with `--json`. */
  line(text: string): void {
    if (!this.json && text !== '') this.#stdout.write(`${text}\n`);
  }

  /** A word aside on stderr, so that stdout stays pipeable; nothing with `--json`. */
  note(text: string): void {
    if (!this.json && text !== '') this.#stderr.write(`${text}\n`);
  }
}

export function viewOf(stream: TextStream, env: Readonly<Record<string, string | undefined>>): View {
  const columns = stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY; // A terminal that does not know its width says 0.
  return { width: Math.max(20, columns), paint: paintFor(stream, env) };
}
