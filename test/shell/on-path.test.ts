import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), "it's-"));
});
afterEach(() => rm(home, { recursive: true }));

/** What setup says with that PATH. */
async function said(searched: string): Promise<string> {
  const script = `import { onPathLine } from './tools/lib/on-path.mjs'; console.log(onPathLine(${JSON.stringify(ROOT)}, { PATH: ${JSON.stringify(searched)} }) ?? '');`;
  return (await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT })).stdout.trim();
}

it('the line that setup prints puts ambientctl onto PATH, for every folder, and is said no more then', async () => {
  const bin = path.join(home, '.local/bin');
  const searched = `${bin}:${process.env.PATH}`;
  const line = await said(searched);
  const command = line.slice(line.indexOf('mkdir'));
  await run('sh', ['-c', command], { env: { HOME: home, PATH: process.env.PATH } });
  const { stdout } = await run('sh', ['-c', 'ambientctl --version'], {
    cwd: home,
    env: { HOME: home, PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin` },
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(await said(searched)).toBe('');
});
