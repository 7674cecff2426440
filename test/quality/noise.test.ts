import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

const tool = path.resolve(import.meta.dirname, '../../tools/quality/noise.mjs');

it('hum, fans, keyboards, music and silence in both tracks of a recording make no line', async () => {
  const report = await new Promise<unknown>((resolve, reject) => {
    execFile(process.execPath, [tool, '--minutes', '2.5', '--json'], { maxBuffer: 1 << 26 }, (error, stdout) => {
      if (stdout.startsWith('{')) resolve(JSON.parse(stdout));
      else reject(error ?? new Error('the tool printed no report'));
    });
  });
  expect(report).toMatchObject({ lines: [], warnings: [], state: 'done', minutes_of_each_track: 2.5 });
}, 600_000);
