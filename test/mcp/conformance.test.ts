import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const TOOLS = fileURLToPath(new URL('../../tools/conformance/', import.meta.url));
const SUITE = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

let server: ChildProcess;
let url: string;
let results: string;
beforeAll(async () => {
  results = await mkdtemp(path.join(os.tmpdir(), 'conf-'));
  server = spawn(process.execPath, [path.join(TOOLS, 'serve.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  url = await new Promise((resolve, reject) => {
    server.stdout?.once('data', (line) => resolve(String(line).trim()));
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
});
afterAll(async () => {
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.stdin?.end();
  await gone;
  await rm(results, { recursive: true, force: true });
});

test.each(['2025-11-25', '2026-07-28'])(
  'the official suite of %s fails only where it needs its own sample server',
  { timeout: 180_000 },
  async (revision) => {
    const expected = path.join(TOOLS, `expected-failures-${revision}.yml`);
    const args = ['--import', path.join(TOOLS, 'node20-fs.mjs'), SUITE, 'server', '--url', url, '--requirements', revision];
    const suite = spawn(process.execPath, [...args, '--expected-failures', expected, '--output-dir', results], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [suite.stdout, suite.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const code = await new Promise((resolve) => suite.once('close', resolve));
    console.log(`conformance ${revision}: ${/Total: .*/.exec(output)?.[0] ?? 'no summary'}`);
    expect(code, output.slice(-6_000)).toBe(0);
    for (const line of (await readFile(expected, 'utf8')).split('\n'))
      if (line.startsWith('  - ')) expect(line).toMatch(/ # (tool|prompt|resource|resource template) test/);
  },
);
