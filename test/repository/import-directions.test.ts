import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const DAEMON = 'services/daemon/src';

/** One forbidden import each: the rule that must name it, who imports, what. */
const VIOLATIONS = [
  ['contract-stands-alone', 'packages/contract/src/a.ts', 'packages/client/src/x.ts'],
  ['client-knows-contract', 'packages/client/src/a.ts', 'packages/cli/src/x.ts'],
  ['cli-is-a-client', 'packages/cli/src/a.ts', `${DAEMON}/sessions/x.ts`],
  ['mcp-shim-is-a-client', 'packages/mcp-shim/src/a.ts', 'services/recognizer/src/protocol.ts'],
  ['tray-is-a-client', 'packages/tray/src/a.ts', 'packages/cli/src/x.ts'],
  ['web-is-a-client', 'packages/web/src/a.ts', `${DAEMON}/control/x.ts`],
  ['recognizer-knows-contract', 'services/recognizer/src/a.ts', 'packages/client/src/x.ts'],
  ['daemon-forks-the-recognizer', `${DAEMON}/transcription/a.ts`, 'services/recognizer/src/child.ts'],
  ['daemon-platform', `${DAEMON}/platform/a.ts`, `${DAEMON}/sessions/x.ts`],
  ['daemon-config', `${DAEMON}/config/a.ts`, `${DAEMON}/sessions/x.ts`],
  ['daemon-sessions', `${DAEMON}/sessions/a.ts`, `${DAEMON}/library/x.ts`],
  ['daemon-capture', `${DAEMON}/capture/a.ts`, `${DAEMON}/transcription/x.ts`],
  ['daemon-transcription', `${DAEMON}/transcription/b.ts`, `${DAEMON}/library/x.ts`],
  ['daemon-library', `${DAEMON}/library/a.ts`, `${DAEMON}/capture/x.ts`],
  ['daemon-assistant', `${DAEMON}/assistant/a.ts`, `${DAEMON}/mcp/x.ts`],
  ['daemon-control', `${DAEMON}/control/a.ts`, `${DAEMON}/mcp/x.ts`],
  ['daemon-mcp', `${DAEMON}/mcp/a.ts`, `${DAEMON}/control/x.ts`],
  ['daemon-elsewhere', `${DAEMON}/extra/a.ts`, `${DAEMON}/library/x.ts`],
  ['daemon-sessions', `${DAEMON}/sessions/b.ts`, `${DAEMON}/daemon.ts`],
] as const;

/** What the layout allows. */
const ALLOWED = [
  ['packages/cli/src/b.ts', 'packages/client/src/x.ts'],
  [`${DAEMON}/daemon.ts`, `${DAEMON}/control/x.ts`],
  [`${DAEMON}/mcp/b.ts`, `${DAEMON}/assistant/x.ts`],
  [`${DAEMON}/control/b.ts`, `${DAEMON}/capture/x.ts`],
  [`${DAEMON}/capture/b.ts`, `${DAEMON}/sessions/x.ts`],
  [`${DAEMON}/config/b.ts`, `${DAEMON}/platform/x.ts`],
  [`${DAEMON}/transcription/c.ts`, 'services/recognizer/src/protocol.ts'],
] as const;

interface Found {
  readonly rule: { readonly name: string };
  readonly from: string;
  readonly to: string;
}

let scratch = '';
let found: readonly Found[] = [];

beforeAll(async () => {
  scratch = mkdtempSync(path.join(tmpdir(), 'directions-'));
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.base.json']) cpSync(path.join(root, file), path.join(scratch, file));
  const imports = new Map<string, string[]>();
  for (const [from, to] of [...VIOLATIONS.map(([, from, to]) => [from, to] as const), ...ALLOWED]) {
    imports.set(from, [...(imports.get(from) ?? []), to]);
    if (!imports.has(to)) imports.set(to, []);
  }
  for (const name of ['a', 'b'])
    imports.set(`packages/tray/src/cycle-${name}.ts`, [`packages/tray/src/cycle-${name === 'a' ? 'b' : 'a'}.ts`]);
  imports.set('packages/tray/src/lost.ts', ['packages/tray/src/missing.ts']);
  imports.set('packages/tray/src/dead.ts', []);
  imports.set('packages/tray/src/dead.test.ts', []);
  for (const [file, targets] of imports) write(file, targets);
  found = await cruise();
}, 60_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function write(file: string, targets: readonly string[]): void {
  const full = path.join(scratch, file);
  mkdirSync(path.dirname(full), { recursive: true });
  // Imports for types only count like any other.
  const lines = targets.map((target, i) => {
    const relative = path.relative(path.dirname(file), target).replace(/\.ts$/, '.js');
    return `import type { X as X${i} } from '${relative.startsWith('.') ? relative : `./${relative}`}';\nexport type Y${i} = X${i};`;
  });
  writeFileSync(full, `${lines.join('\n')}\nexport interface X {}\n`);
}

function cruise(): Promise<readonly Found[]> {
  const program = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'packages', 'services'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: scratch, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      try {
        const result = JSON.parse(stdout) as { summary: { violations: Found[] } };
        resolve(result.summary.violations);
      } catch {
        reject(error ?? new Error(stdout.slice(0, 500)));
      }
    });
  });
}

const named = (rule: string, from: string, to: string): boolean =>
  found.some((v) => v.rule.name === rule && v.from === from && v.to === to);

describe('import directions', () => {
  test.each(VIOLATIONS)('%s stops %s → %s', (rule, from, to) => {
    expect(named(rule, from, to)).toBe(true);
  });

  test.each(ALLOWED)('%s → %s is allowed', (from, to) => {
    expect(found.filter((v) => v.from === from && v.to === to)).toEqual([]);
  });

  test('a cycle, an import of nothing and a dead file are named; an unused test file is not', () => {
    const files = (rule: string): string[] => found.filter((v) => v.rule.name === rule).map((v) => path.basename(v.from));
    expect(files('no-cycles')).toContain('cycle-a.ts');
    expect(files('resolvable')).toEqual(['lost.ts']);
    expect(files('no-orphans')).toEqual(['dead.ts']);
  });
});
