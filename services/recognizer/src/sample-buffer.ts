/** A growing window onto a track: samples `[start, end)` as floats in -1..1. */
export class SampleBuffer {
  #data: Float32Array = new Float32Array(1 << 15);
  #start: number;
  #length = 0;

  constructor(start: number) {
    this.#start = start;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#start + this.#length;
  }

  /** Appends s16le samples. */
  append(pcm: Uint8Array): void {
    const count = pcm.byteLength >> 1;
    this.#reserve(count);
    const view = new DataView(pcm.buffer, pcm.byteOffset, count * 2);
    for (let i = 0; i < count; i++) this.#data[this.#length + i] = view.getInt16(i * 2, true) / 32_768;
    this.#length += count;
  }

  appendSilence(count: number): void {
    this.#reserve(count);
    this.#data.fill(0, this.#length, this.#length + count);
    this.#length += count;
  }

  /** Samples `[from, to)`, clamped to what is held. Valid until the next append. */
  view(from: number, to: number): Float32Array {
    const a = Math.max(0, from - this.#start);
    const b = Math.max(a, Math.min(this.#length, to - this.#start));
    return this.#data.subarray(a, b);
  }

  /** Forgets everything before `position`. */
  dropBefore(position: number): void {
    const count = Math.min(Math.max(0, position - this.#start), this.#length);
    if (count === 0) return;
    this.#data.copyWithin(0, count, this.#length);
    this.#length -= count;
    this.#start += count;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#data.length) return;
    const grown = new Float32Array(Math.max(this.#data.length * 2, this.#length + count));
    grown.set(this.#data.subarray(0, this.#length));
    this.#data = grown;
  }
}
