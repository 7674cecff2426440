/** What a meter shows for digital silence, dBFS. */
export const FLOOR_DB = -120;

/** RMS and peak of what passed since the last reading. */
export class LevelMeter {
  #sum = 0;
  #count = 0;
  #peak = 0;

  /** Takes s16le samples. */
  add(pcm: Buffer): void {
    for (let i = 0; i + 1 < pcm.length; i += 2) {
      const value = pcm.readInt16LE(i);
      this.#sum += value * value;
      const size = value < 0 ? -value : value;
      if (size > this.#peak) this.#peak = size;
    }
    this.#count += pcm.length >> 1;
  }

  /** dBFS since the last call; the floor when nothing passed. */
  read(): { rms_db: number; peak_db: number } {
    const level = { rms_db: decibel(this.#count === 0 ? 0 : Math.sqrt(this.#sum / this.#count)), peak_db: decibel(this.#peak) };
    this.#sum = 0;
    this.#count = 0;
    this.#peak = 0;
    return level;
  }
}

function decibel(value: number): number {
  return value <= 0 ? FLOOR_DB : Math.max(FLOOR_DB, Math.round(200 * Math.log10(value / 32768)) / 10);
}
