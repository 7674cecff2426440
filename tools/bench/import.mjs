/**
 * How much `ambientctl import` costs over the bare sherpa-onnx loop, on the same audio, threads and model, in the same run.
 *
 *   node tools/bench/import.mjs [--minutes 10] [--rounds 1] [--json] [--out FILE]
 *
 * Both sides start a process, load the model, decode the file with ffmpeg, find turns and read them. The bare loop is
 * `bare-loop.mjs`: nothing but sherpa-onnx's own detector and recognizer. Exits 1 when the ratio is above 1.15.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freshHome, speechDir } from '../lib/ambient.mjs';
import { readTable } from '../quality/score.mjs';

const LIMIT = 1.15;
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const dir = mkdtempSync(path.join(tmpdir(), 'amb-bench-'));
const audio = path.join(dir, 'audio.wav');
makeAudio(audio, Number(values.minutes) * 60);
const ambient = freshHome();
const rounds = [];
try {
  // The daemon is running before the clock starts; the model is not loaded: both sides load it.
  for (let round = 0; round < Number(values.rounds); round++) {
    const bare = timed(() =>
      execFileSync(process.execPath, [path.join(import.meta.dirname, 'bare-loop.mjs'), audio], { stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    await ambient.ctl('daemon', 'stop').catch(() => undefined);
    await ambient.ctl('daemon', 'start');
    const begun = performance.now();
    await ambient.json('import', '--wait', audio);
    const product = (performance.now() - begun) / 1000;
    rounds.push({ bare_s: Number(bare.toFixed(2)), import_s: Number(product.toFixed(2)), ratio: Number((product / bare).toFixed(3)) });
  }
} finally {
  await ambient.close();
  rmSync(dir, { recursive: true, force: true });
}
const ratio = rounds.map((round) => round.ratio).sort((a, b) => a - b)[rounds.length >> 1];
const report = { minutes: Number(values.minutes), model: 'moonshine-base', threads: 2, rounds, median_ratio: ratio, limit: LIMIT };
if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
if (values.json) console.log(JSON.stringify(report));
else {
  for (const round of rounds) console.log(`bare loop ${round.bare_s} s, import ${round.import_s} s, ratio ${round.ratio}`);
  console.log(`median ratio ${ratio} (limit ${LIMIT})`);
}
process.exitCode = ratio > LIMIT ? 1 : 0;

function timed(work) {
  const begun = performance.now();
  work();
  return (performance.now() - begun) / 1000;
}

/** Speech of the given length: the recordings with a reference, one after the other, again and again. */
function makeAudio(file, seconds) {
  const names = readTable(readFileSync(path.join(speechDir, 'manifest.tsv'), 'utf8'))
    .filter((row) => row.ref_kind !== 'nonspeech' && !row.file.endsWith('.raw'))
    .map((row) => path.join(speechDir, row.file));
  const parts = [];
  let bytes = 0;
  const wanted = seconds * 32_000;
  while (bytes < wanted) {
    for (const name of names) {
      const pcm = execFileSync('ffmpeg', ['-v', 'error', '-i', name, '-f', 's16le', '-ar', '16000', '-ac', '1', '-'], {
        maxBuffer: 1 << 28,
      });
      parts.push(pcm, Buffer.alloc(16_000));
      bytes += pcm.length + 16_000;
      if (bytes >= wanted) break;
    }
  }
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 's16le', '-ar', '16000', '-ac', '1', '-i', '-', file], {
    input: Buffer.concat(parts).subarray(0, wanted),
  });
}
