/**
 * The same sound in another number of samples, by linear interpolation: for corrections of a few samples in a block.
 * @param pcm s16le mono
 */
export function stretch(pcm: Buffer, length: number): Buffer {
  const count = pcm.length >> 1;
  if (length === count || count === 0 || length <= 0) return pcm;
  const out = Buffer.allocUnsafe(length * 2);
  const step = length === 1 ? 0 : (count - 1) / (length - 1);
  for (let i = 0; i < length; i++) {
    const at = i * step;
    const left = Math.min(count - 1, Math.floor(at));
    const right = Math.min(count - 1, left + 1);
    const a = pcm.readInt16LE(left * 2);
    const b = pcm.readInt16LE(right * 2);
    out.writeInt16LE(Math.round(a + (b - a) * (at - left)), i * 2);
  }
  return out;
}
