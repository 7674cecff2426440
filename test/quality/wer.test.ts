import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { speechDir } from '../../tools/lib/ambient.mjs';

const tool = path.resolve(import.meta.dirname, '../../tools/quality/wer.mjs');
// The recordings are no part of the repository: without them there is nothing to measure, wherever this runs.
const present = existsSync(path.join(speechDir, 'manifest.tsv'));
if (!present) console.log(`Word error rate not measured: no recordings in ${speechDir} (AMBIENT_SPEECH names another folder).`);

it.skipIf(!present)(
  'speech is read no worse than by the bare loop, and nothing is read where nobody speaks',
  async () => {
    const report = await new Promise<unknown>((resolve, reject) => {
      // The exit code says the same as the report; the report says what was wrong.
      execFile(process.execPath, [tool, '--json'], { maxBuffer: 1 << 26 }, (error, stdout) => {
        if (stdout.startsWith('{')) resolve(JSON.parse(stdout));
        else reject(error ?? new Error('the tool printed no report'));
      });
    });
    expect(report).toMatchObject({ invented_words: 0, missing: [], words: 1536 });
    expect((report as { wer: number }).wer).toBeLessThanOrEqual(0.102);
  },
  1_800_000,
);
