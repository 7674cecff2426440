/** How one sample is stored in a WAV file. */
export type SampleFormat = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64';

export const FORMAT_BYTES: Readonly<Record<SampleFormat, number>> = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4, f64: 8 };

/**
 * Interleaved frames of any PCM format as s16le.
 * @param channels channels of `data`; whole frames only
 * @param wanted 1 mixes all channels; 2 keeps the first two
 */
export function toS16(data: Buffer, format: SampleFormat, channels: number, wanted: 1 | 2): Buffer {
  if (format === 's16' && channels === wanted) return data;
  const width = FORMAT_BYTES[format];
  const frames = Math.floor(data.length / (width * channels));
  const out = Buffer.allocUnsafe(frames * wanted * 2);
  for (let frame = 0; frame < frames; frame++) {
    const at = frame * channels * width;
    if (wanted === 2) {
      out.writeInt16LE(clip(sample(data, at, format)), frame * 4);
      out.writeInt16LE(clip(sample(data, at + (channels > 1 ? width : 0), format)), frame * 4 + 2);
      continue;
    }
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += sample(data, at + channel * width, format);
    out.writeInt16LE(clip(sum / channels), frame * 2);
  }
  return out;
}

/** Splits interleaved s16le stereo into its two channels. */
export function splitChannels(stereo: Buffer): readonly [Buffer, Buffer] {
  const frames = stereo.length >> 2;
  const left = Buffer.allocUnsafe(frames * 2);
  const right = Buffer.allocUnsafe(frames * 2);
  for (let frame = 0; frame < frames; frame++) {
    left.writeInt16LE(stereo.readInt16LE(frame * 4), frame * 2);
    right.writeInt16LE(stereo.readInt16LE(frame * 4 + 2), frame * 2);
  }
  return [left, right];
}

/** One sample on the scale of s16. */
function sample(data: Buffer, at: number, format: SampleFormat): number {
  switch (format) {
    case 'u8':
      return (data.readUInt8(at) - 128) * 256;
    case 's16':
      return data.readInt16LE(at);
    case 's24':
      return data.readIntLE(at, 3) / 256;
    case 's32':
      return data.readInt32LE(at) / 65536;
    case 'f32':
      return data.readFloatLE(at) * 32768;
    case 'f64':
      return data.readDoubleLE(at) * 32768;
  }
}

/** Float files may hold values beyond full scale, and not-a-number. */
function clip(value: number): number {
  if (!(value > -32768)) return value <= -32768 ? -32768 : 0;
  return value > 32767 ? 32767 : Math.round(value);
}
