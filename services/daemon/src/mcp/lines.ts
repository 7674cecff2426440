/** One line of a stream, or the news that a line was longer than allowed and has been thrown away. */
export type LineEvent = { readonly kind: 'line'; readonly bytes: Buffer } | { readonly kind: 'oversized' };

const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into lines. A line longer than the limit is discarded up to its newline and reported once;
 * what follows it is read as usual. Never holds more than one line in memory.
 */
export class LineSplitter {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  #discarding = false;

  /** @param limit longest line without its newline, bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): LineEvent[] {
    const events: LineEvent[] = [];
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(NEWLINE, from);
      if (at === -1) {
        this.#keep(chunk.subarray(from));
        return events;
      }
      this.#keep(chunk.subarray(from, at));
      events.push(this.#finish());
      from = at + 1;
    }
  }

  /** The unterminated last line, when there is one. */
  flush(): LineEvent | undefined {
    return this.#discarding || this.#size > 0 ? this.#finish() : undefined;
  }

  #keep(part: Buffer): void {
    if (this.#discarding || part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#limit) {
      this.#discarding = true;
      this.#parts = [];
    } else this.#parts.push(part);
  }

  #finish(): LineEvent {
    const [only] = this.#parts;
    const event: LineEvent = this.#discarding
      ? { kind: 'oversized' }
      : { kind: 'line', bytes: this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size) };
    this.#parts = [];
    this.#size = 0;
    this.#discarding = false;
    return event;
  }
}
