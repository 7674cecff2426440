import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function directDependencies(): readonly string[] {
  const files = ['packages', 'services']
    .flatMap((group) => readdirSync(path.join(root, group)).map((name) => path.join(root, group, name, 'package.json')))
    .filter((file) => existsSync(file));
  const names = files.flatMap((file) => Object.keys((JSON.parse(readFileSync(file, 'utf8')) as Manifest).dependencies ?? {}));
  return [...new Set(names)].filter((name) => !name.startsWith('@ambient/')).sort();
}

test('everything that ships has a licence of the allow list', () => {
  const program = path.join(root, 'tools/licences/check.mjs');
  const listed = execFileSync(process.execPath, [program, '--list'], { encoding: 'utf8' });
  expect(listed).toMatch(/^MIT\tfastify@/m);
  expect(listed).toMatch(/^Apache-2\.0\tsherpa-onnx-node@/m);
});

test('the notices name every package that ours depend on', () => {
  const notices = readFileSync(path.join(root, 'THIRD_PARTY_NOTICES.md'), 'utf8');
  const unnamed = directDependencies().filter((name) => !notices.includes(`| \`${name}\` |`));
  expect(unnamed).toEqual([]);
});
