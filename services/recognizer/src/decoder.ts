import { createRequire } from 'node:module';
import type * as Sherpa from 'sherpa-onnx-node';
import { padded, RATE } from './audio.js';
import type { ModelFiles } from './protocol.js';

const { OfflineRecognizer } = createRequire(import.meta.url)('sherpa-onnx-node') as typeof Sherpa;

/** Shorter audio makes the encoder fail, samples. */
const SHORTEST = 1_600;

export interface Decoded {
  readonly text: string;
  /** Tokens that the text was made of. */
  readonly tokens: number;
}

/** What the model makes of audio, 16 kHz mono in -1..1, and nothing more. Takes one thread; may be called again before it answers. */
export type Decode = (samples: Float32Array) => Promise<Decoded>;

/** Loads a model. Rejects on files that cannot be loaded; some faults of the native library end the process instead. */
export async function loadDecoder(model: ModelFiles): Promise<Decode> {
  const recognizer = await OfflineRecognizer.createAsync({
    featConfig: { sampleRate: RATE, featureDim: 80 },
    modelConfig: {
      moonshine: { encoder: model.encoder, mergedDecoder: model.mergedDecoder },
      tokens: model.tokens,
      numThreads: 1,
      provider: 'cpu',
      debug: 0,
    },
  });
  return async (samples) => {
    const stream = recognizer.createStream();
    const enough = samples.length < SHORTEST ? padded(samples, 0, SHORTEST - samples.length) : samples;
    stream.acceptWaveform({ samples: enough, sampleRate: RATE });
    const { text, tokens } = await recognizer.decodeAsync(stream);
    return { text: text.replaceAll('<unk>', ' ').replace(/\s+/g, ' ').trim(), tokens: tokens.length };
  };
}
