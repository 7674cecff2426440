/** A turn is given up after this many recognizers certainly died of it. */
const DEATHS = 2;

/** Turns that recognizers may have died of. While there are any, one turn is read at a time, so that the next time it is clear which it was. */
export class Suspects {
  readonly #deaths = new Map<string, number>();

  get any(): boolean {
    return this.#deaths.size > 0;
  }

  /**
   * The recognizer ended while it read this turn.
   * @param certain no other turn can have been the cause
   * @returns whether the turn is to be given up; it is no suspect any more then
   */
  blame(turn: string, certain: boolean): boolean {
    const deaths = (this.#deaths.get(turn) ?? 0) + (certain ? 1 : 0);
    if (deaths >= DEATHS) this.#deaths.delete(turn);
    else this.#deaths.set(turn, deaths);
    return deaths >= DEATHS;
  }

  /** @returns whether these were the last suspects */
  acquit(matches: (turn: string) => boolean): boolean {
    const before = this.#deaths.size;
    for (const turn of [...this.#deaths.keys()]) if (matches(turn)) this.#deaths.delete(turn);
    return before > 0 && this.#deaths.size === 0;
  }
}
