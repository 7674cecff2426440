#!/usr/bin/env node
// `npm test`: sets everything up, then runs every check and every test. Arguments go to vitest.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootstrap, ROOT } from './bootstrap.mjs';
import { capture, report, show, step } from './lib/steps.mjs';

const bin = (name, file) => path.join(ROOT, 'node_modules', name, file);
const CHECKS = [
  { title: 'Format and lint', run: [bin('@biomejs/biome', 'bin/biome'), 'check', '.'] },
  { title: 'Types', run: [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.check.json'] },
  {
    title: 'Import directions',
    run: [bin('dependency-cruiser', 'bin/dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs', 'packages', 'services'],
  },
];

/** Runs one check quietly; shows what it found when it fails. */
async function passes({ title, run }) {
  let result = { code: 0, output: '' };
  await step(title, async () => {
    result = await capture(process.execPath, run, { cwd: ROOT });
    return result.code === 0 ? undefined : 'failed';
  });
  if (result.code !== 0) process.stdout.write(result.output);
  return result.code === 0;
}

/** Runs vitest in sight. A run that ends badly without naming a failed test counts as one failure. */
async function runTests(args) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'tests-'));
  const file = path.join(scratch, 'result.json');
  try {
    const vitest = [bin('vitest', 'vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args];
    const code = await show(process.execPath, vitest, { cwd: ROOT });
    const counts = existsSync(file) ? count(JSON.parse(readFileSync(file, 'utf8'))) : { passed: 0, failed: 0, skipped: 0 };
    if (code !== 0 && counts.failed === 0) counts.failed = 1;
    return counts;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function count(result) {
  const brokenFiles = result.testResults.filter((f) => f.status === 'failed' && !f.assertionResults.some((a) => a.status === 'failed'));
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + brokenFiles.length,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

async function main(args) {
  await bootstrap({ system: true });
  let failedChecks = 0;
  for (const check of CHECKS) if (!(await passes(check))) failedChecks += 1;
  const { passed, failed, skipped } = await runTests(args);
  if (failedChecks > 0) console.log(`\nFailed checks, counted below as failures: ${failedChecks}`);
  console.log(`\n${passed} passed, ${failed + failedChecks} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed + failedChecks === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = report(error);
  console.log('\n0 passed, 1 failed');
}
