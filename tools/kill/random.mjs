/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Random {
  #state;

  /** @param seed any integer */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ number < 1 */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least, most) {
    return least + this.next() * (most - least);
  }

  /** An integer, both ends included. */
  whole(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share) {
    return this.next() < share;
  }

  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }
}

/** The seed of round `n` of a run. */
export function roundSeed(seed, n) {
  return Math.imul(seed ^ Math.imul(n + 1, 0x9e3779b1), 0x85ebca6b) >>> 0;
}
