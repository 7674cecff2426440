interface HangWatchOptions {
  /** Longest time a turn of so many ms may take, ms. */
  readonly decodeLimitMs: (turnMs: number) => number;
  /** Longest time an answer between turns may take, ms. */
  readonly answerLimitMs: number;
  readonly onHang: (limitMs: number) => void;
}

/** Notices a recognizer that says nothing any more although it has work, in a turn or between turns. */
export class HangWatch {
  readonly #options: HangWatchOptions;
  /** Answers owed, by stream. */
  readonly #owed = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HangWatchOptions) {
    this.#options = options;
  }

  /** Something was sent that is answered. */
  asked(stream: number): void {
    this.#owed.set(stream, (this.#owed.get(stream) ?? 0) + 1);
    if (this.#timer === undefined) this.#arm(this.#options.answerLimitMs);
  }

  answered(stream: number): void {
    const left = (this.#owed.get(stream) ?? 0) - 1;
    if (left > 0) this.#owed.set(stream, left);
    else this.#owed.delete(stream);
    this.#armIfOwed();
  }

  decoding(turnMs: number): void {
    this.#arm(this.#options.decodeLimitMs(turnMs));
  }

  decoded(): void {
    this.#armIfOwed();
  }

  /** The stream was closed: nothing more comes of it. */
  forget(stream: number): void {
    this.#owed.delete(stream);
    this.#armIfOwed();
  }

  /** The recognizer is gone, and with it all it owed. */
  clear(): void {
    this.#owed.clear();
    this.#armIfOwed();
  }

  #armIfOwed(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#owed.size > 0) this.#arm(this.#options.answerLimitMs);
  }

  #arm(limitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#options.onHang(limitMs);
    }, limitMs);
  }
}
