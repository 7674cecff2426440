/** Samples per second of everything the models are given. */
export const RATE = 16_000;

/** The same samples, within -1..1 and without one that is not a number: a single one of those spoils a whole turn. */
export function finite(samples: Float32Array): Float32Array {
  return samples.every((sample) => sample >= -1 && sample <= 1)
    ? samples
    : samples.map((sample) => (Number.isNaN(sample) ? 0 : Math.max(-1, Math.min(1, sample))));
}

/** The samples with silence before and after them, in samples. */
export function padded(samples: Float32Array, before: number, after = 0): Float32Array {
  const longer = new Float32Array(before + samples.length + after);
  longer.set(samples, before);
  return longer;
}

/** Middle of the quietest 50 ms of the middle half: where audio is best cut in two. */
export function quietestPoint(samples: Float32Array): number {
  const window = RATE / 20;
  let best = samples.length >> 1;
  let least = Number.POSITIVE_INFINITY;
  for (let at = samples.length >> 2; at + window <= (samples.length * 3) >> 2; at += window >> 1) {
    let sum = 0;
    for (let i = at; i < at + window; i++) sum += (samples[i] ?? 0) ** 2;
    if (sum < least) {
      least = sum;
      best = at + (window >> 1);
    }
  }
  return best;
}
