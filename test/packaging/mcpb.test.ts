import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const MCPB = path.join(root, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mcpb-'));
  execFileSync(process.execPath, [
    path.join(root, 'tools/mcpb/build.mjs'),
    '--out',
    folder,
    '--release-url',
    'https://example.com/ambient.mcpb',
  ]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface ServerJson {
  readonly name: string;
  readonly version: string;
  readonly packages: readonly Readonly<Record<string, unknown>>[];
}

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const stdio = { type: 'stdio' };

const bundle = (): string => path.join(folder, readdirSync(folder).find((name) => name.endsWith('.mcpb')) ?? '');

describe('the .mcpb bundle', () => {
  test('is accepted by the packer, and runs by itself', () => {
    const unpacked = path.join(folder, 'unpacked');
    execFileSync(process.execPath, [MCPB, 'unpack', bundle(), unpacked], { stdio: 'ignore' });
    execFileSync(process.execPath, [MCPB, 'validate', path.join(unpacked, 'manifest.json')], { stdio: 'ignore' });
    const manifest = readJson(path.join(unpacked, 'manifest.json')) as { version: string; server: { entry_point: string } };
    expect(manifest.version).toBe((readJson(path.join(root, 'package.json')) as { version: string }).version);
    const { stdout, status } = spawnSync(process.execPath, [path.join(unpacked, manifest.server.entry_point), '--wait-ms', '100'], {
      input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
      encoding: 'utf8',
      cwd: folder,
      env: { HOME: folder, AMBIENT_MCP_TOKEN: 'x' },
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { code: 'not_running' } } });
  });

  test('holds no source maps, declarations or native code', () => {
    const names = readdirSync(path.join(folder, 'unpacked'), { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => /\.(map|d\.ts|node|test\.js)$/.test(name))).toEqual([]);
    expect(existsSync(path.join(folder, 'unpacked', 'LICENSE'))).toBe(true);
  });
});

describe('server.json', () => {
  const ofRepository = (): ServerJson => readJson(path.join(root, 'server.json')) as ServerJson;
  const ofRelease = (): ServerJson => readJson(path.join(folder, 'server.json')) as ServerJson;

  // The rules of the registry's schema of 2025-12-11 and of its publishing requirements.
  test.each([
    ['of the repository', ofRepository],
    ['of a release', ofRelease],
  ])('%s is what the registry takes', (_name, file) => {
    const { $schema, name, title, description, version, packages, ...rest } = file() as unknown as Record<string, unknown>;
    expect(rest).toEqual({});
    expect($schema).toBe('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json');
    expect(name).toMatch(/^[a-zA-Z0-9.-]{1,100}\/[a-zA-Z0-9._-]{1,99}$/);
    for (const text of [title, description]) expect(text).toMatch(/^.{1,100}$/);
    expect(version).toMatch(VERSION);
    expect(Array.isArray(packages) && packages.length > 0).toBe(true);
  });

  test('names the npm package with the variables that the shim reads, and no secret on a command line', () => {
    const [npm] = ofRepository().packages;
    const variable = { name: expect.any(String), description: expect.any(String), isRequired: expect.any(Boolean) };
    expect(npm).toEqual({
      registryType: 'npm',
      identifier: '@ambient/mcp-shim',
      version: expect.stringMatching(VERSION),
      runtimeHint: 'npx',
      transport: stdio,
      environmentVariables: [
        { ...variable, name: 'AMBIENT_MCP_TOKEN', isSecret: true },
        { ...variable, name: 'AMBIENT_HOME', format: 'filepath' },
      ],
    });
  });

  test('of a release names the bundle and its checksum', () => {
    const sha256 = createHash('sha256').update(readFileSync(bundle())).digest('hex');
    expect(ofRelease().packages[1]).toEqual({
      registryType: 'mcpb',
      identifier: 'https://example.com/ambient.mcpb',
      version: ofRelease().version,
      fileSha256: sha256,
      transport: stdio,
    });
  });

  test('agrees with the package it names', () => {
    const { name, version, packages } = ofRepository();
    const shim = readJson(path.join(root, 'packages/mcp-shim/package.json')) as { name: string; version: string; mcpName: string };
    expect(shim.mcpName).toBe(name);
    expect(version).toBe(shim.version);
    expect(packages.map(({ identifier, version }) => [identifier, version])).toEqual([[shim.name, shim.version]]);
  });
});
