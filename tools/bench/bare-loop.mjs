/**
 * The bare loop to compare with: ffmpeg, sherpa-onnx's own voice activity detector and its recognizer, in one process.
 * Silero v5 at 0.5, at least 0.25 s of speech, 0.5 s of pause, at most 20 s; 0.2 s of context; Moonshine base, 2 threads.
 *
 *   node tools/bench/bare-loop.mjs FILE     prints the text
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resolveModel } from '../../services/recognizer/dist/models.js';

const require = createRequire(new URL('../../services/recognizer/package.json', import.meta.url));
const { OfflineRecognizer, Vad } = require('sherpa-onnx-node');
const RATE = 16_000;
const FRAME = 512;
const CONTEXT = 0.2 * RATE;

const cache = mkdtempSync(path.join(tmpdir(), 'amb-loop-'));
process.on('exit', () => rmSync(cache, { recursive: true, force: true }));
const model = await resolveModel('moonshine-base', cache);
const recognizer = await OfflineRecognizer.createAsync({
  featConfig: { sampleRate: RATE, featureDim: 80 },
  modelConfig: {
    moonshine: { encoder: model.encoder, mergedDecoder: model.mergedDecoder },
    tokens: model.tokens,
    numThreads: 2,
    provider: 'cpu',
    debug: 0,
  },
});
const vad = new Vad(
  {
    sileroVad: {
      model: model.vad,
      threshold: 0.5,
      minSilenceDuration: 0.5,
      minSpeechDuration: 0.25,
      maxSpeechDuration: 20,
      windowSize: FRAME,
    },
    sampleRate: RATE,
    numThreads: 1,
    provider: 'cpu',
    debug: 0,
  },
  60,
);
const bytes = execFileSync('ffmpeg', ['-v', 'error', '-i', process.argv[2], '-f', 'f32le', '-ar', String(RATE), '-ac', '1', '-'], {
  maxBuffer: 1 << 30,
});
const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3)));

for (let at = 0; at < samples.length; at += FRAME) {
  vad.acceptWaveform(samples.subarray(at, at + FRAME));
  await drain();
}
vad.flush();
await drain();

async function drain() {
  while (!vad.isEmpty()) {
    const { start, samples: turn } = vad.front(false);
    vad.pop();
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: samples.slice(Math.max(0, start - CONTEXT), start + turn.length + CONTEXT), sampleRate: RATE });
    console.log((await recognizer.decodeAsync(stream)).text.trim());
  }
}
