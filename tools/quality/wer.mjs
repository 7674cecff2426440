/**
 * Word error rate of `ambientctl import` over a folder of recordings with a manifest.tsv.
 *
 *   node tools/quality/wer.mjs [--json] [--out FILE]
 *
 * AMBIENT_SPEECH names the folder (default: ../shared/speech). Exits 1 when the rate is above 0.102, when a line was
 * invented where nothing is said, or when a file is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freshHome, speechDir } from '../lib/ambient.mjs';
import { readTable, score } from './score.mjs';

/** Rate of the bare loop on the same recordings. */
const LIMIT = 0.102;

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, out: { type: 'string' } } });
const rows = readTable(readFileSync(path.join(speechDir, 'manifest.tsv'), 'utf8'));
const ambient = freshHome();
try {
  const begun = performance.now();
  const imports = await ambient.json('import', '--wait', ...rows.map((row) => path.join(speechDir, row.file)));
  const texts = new Map();
  for (const { id, file } of imports) {
    const lines = await ambient.json('show', id);
    texts.set(path.basename(file), lines.map((line) => line.text).join(' '));
  }
  const result = score(rows, texts);
  const seconds = rows.reduce((sum, row) => sum + Number(row.seconds), 0);
  const report = {
    model: (await ambient.json('config', 'transcription.model')).value ?? null,
    files: rows.length,
    wer: Number(result.wer.toFixed(4)),
    words: result.words,
    invented_words: result.invented,
    missing: result.missing,
    limit: LIMIT,
    times_real_time: Number((seconds / ((performance.now() - begun) / 1000)).toFixed(1)),
  };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify({ ...report, worst: result.worst }));
  else {
    for (const { file, wer, text } of result.worst) console.log(`${wer.toFixed(2)}  ${file}  ${text.slice(0, 80)}`);
    console.log(
      `WER ${report.wer} over ${report.words} words; ${report.invented_words} words invented where nothing is said; ${report.times_real_time}x real time`,
    );
  }
  process.exitCode = result.wer > LIMIT || result.invented > 0 || result.missing.length > 0 ? 1 : 0;
} finally {
  await ambient.close();
}
