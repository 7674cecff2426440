export interface LineHandlers {
  /** A whole line, without its newline. */
  readonly line: (line: Buffer) => void;
  /** The next piece of a line longer than the limit; the last one ends with the newline or with the input. */
  readonly piece: (piece: Buffer, last: boolean) => void;
}

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines in bounded memory: a line longer than `limit` bytes is handed on in pieces as it comes. */
export class LineSplitter {
  readonly #limit: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  #size = 0;
  #oversized = false;

  constructor(limit: number, handlers: LineHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, at), true);
      from = at + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from), false);
  }

  /** The input is over: what is left is a line too. */
  end(): void {
    if (this.#size > 0 || this.#oversized) this.#take(Buffer.alloc(0), true);
  }

  #take(part: Buffer, complete: boolean): void {
    if (!this.#oversized && this.#size + part.length > this.#limit) {
      this.#oversized = true;
      for (const held of this.#drain()) this.#handlers.piece(held, false);
    }
    if (this.#oversized) {
      if (complete) {
        this.#oversized = false;
        this.#handlers.piece(Buffer.concat([part, Buffer.of(NEWLINE)]), true);
      } else this.#handlers.piece(part, false);
      return;
    }
    this.#parts.push(part);
    this.#size += part.length;
    if (!complete) return;
    const parts = this.#drain();
    const [only] = parts;
    this.#handlers.line(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts));
  }

  #drain(): Buffer[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#size = 0;
    return parts;
  }
}
