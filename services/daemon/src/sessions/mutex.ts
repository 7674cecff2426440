/** Runs one piece of work at a time, in the order of the calls. Not reentrant. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when everything asked for so far is over. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
