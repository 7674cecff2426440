interface HangWatchOptions {
  /** Longest time a turn of so many ms may take, ms. */
  readonly decodeLimitMs: (turnMs: number) => number;
  /** Longest time an answer between turns may take, ms. */
  readonly answerLimitMs: number;
  /** `stream`: the one whose turn takes too long; undefined when it is an answer between turns. */
  readonly onHang: (limitMs: number, stream: number | undefined) => void;
}

interface Deadline {
  readonly stream?: number;
  readonly limitMs: number;
  /** On the monotonic clock, ms. */
  readonly at: number;
}

/** Notices a recognizer that says nothing any more although it has work, in a turn or between turns. */
export class HangWatch {
  readonly #options: HangWatchOptions;
  /** Answers owed, by stream. */
  readonly #owed = new Map<number, number>();
  /** Limits of the turns under way, by stream, ms. They are answered in order: only the first is waited for. */
  readonly #turns = new Map<number, number[]>();
  readonly #deadlines = new Map<number, Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HangWatchOptions) {
    this.#options = options;
  }

  /** Something was sent that is answered. */
  asked(stream: number): void {
    this.#owed.set(stream, (this.#owed.get(stream) ?? 0) + 1);
    if (this.#timer === undefined) this.#arm();
  }

  answered(stream: number): void {
    const left = (this.#owed.get(stream) ?? 0) - 1;
    if (left > 0) this.#owed.set(stream, left);
    else this.#owed.delete(stream);
    this.#arm();
  }

  decoding(stream: number, turnMs: number): void {
    const turns = this.#turns.get(stream) ?? [];
    this.#turns.set(stream, turns);
    if (turns.push(this.#options.decodeLimitMs(turnMs)) === 1) this.#await(stream);
    this.#arm();
  }

  decoded(stream: number): void {
    this.#turns.get(stream)?.shift();
    this.#await(stream);
    this.#arm();
  }

  /** The stream was closed: nothing more comes of it. */
  forget(stream: number): void {
    this.#owed.delete(stream);
    this.#turns.delete(stream);
    this.#deadlines.delete(stream);
    this.#arm();
  }

  /** The recognizer is gone, and with it all it owed. */
  clear(): void {
    this.#owed.clear();
    this.#turns.clear();
    this.#deadlines.clear();
    this.#arm();
  }

  /** The stream's first turn under way has its whole time from now on. */
  #await(stream: number): void {
    const limitMs = this.#turns.get(stream)?.[0];
    if (limitMs === undefined) this.#deadlines.delete(stream);
    else this.#deadlines.set(stream, { stream, limitMs, at: performance.now() + limitMs });
  }

  #arm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const next = this.#next();
    if (next === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#options.onHang(next.limitMs, next.stream);
    }, next.at - performance.now());
  }

  #next(): Deadline | undefined {
    const [first] = [...this.#deadlines.values()].sort((a, b) => a.at - b.at);
    const { answerLimitMs } = this.#options;
    return first ?? (this.#owed.size > 0 ? { limitMs: answerLimitMs, at: performance.now() + answerLimitMs } : undefined);
  }
}
