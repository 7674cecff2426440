#!/usr/bin/env node
// Builds ambient-VERSION.mcpb from the built shim: `node tools/mcpb/build.mjs [--out DIR] [--release-url URL]`.
// With the URL that the bundle will be published under, a server.json that names it and its checksum is written beside it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SHIM = path.join(ROOT, 'packages/mcp-shim');
const CONTRACT = path.join(ROOT, 'packages/contract');
const MCPB = path.join(ROOT, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/**
 * The built modules that `entry` loads when it starts, itself included. A helper that is run as a program of its own (the
 * keychain's, with its native library) is not among them: in a bundle the host keeps the token.
 */
function modulesOf(entry, seen = new Set()) {
  if (seen.has(entry)) return seen;
  if (!existsSync(entry)) throw new Error(`${path.relative(ROOT, entry)} is missing: run \`npm run build\` first.`);
  seen.add(entry);
  for (const [, from, bare] of readFileSync(entry, 'utf8').matchAll(
    /^(?:import|export)\b[^;'"=(]*\bfrom\s*['"]([^'"]+)['"];|^import\s*['"]([^'"]+)['"];/gm,
  )) {
    const name = from ?? bare;
    if (name.startsWith('.')) modulesOf(path.resolve(path.dirname(entry), name), seen);
    else if (name === '@ambient/contract/paths') modulesOf(path.join(CONTRACT, 'dist/paths.js'), seen);
    else if (!name.startsWith('node:')) throw new Error(`${path.relative(ROOT, entry)} imports ${name}, which the bundle does not hold.`);
  }
  return seen;
}

/** Lays the bundle's files out in `folder`. */
function stage(folder) {
  const { version, engines } = readJson(path.join(ROOT, 'package.json'));
  const server = path.join(folder, 'server');
  for (const file of modulesOf(path.join(SHIM, 'bin/ambient-mcp.js'))) {
    const target = file.startsWith(SHIM)
      ? path.join(server, path.relative(SHIM, file))
      : path.join(server, 'node_modules/@ambient/contract', path.relative(CONTRACT, file));
    mkdirSync(path.dirname(target), { recursive: true });
    // Without the pointer to a source map that the bundle does not hold.
    writeFileSync(target, readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
  }
  const contract = { name: '@ambient/contract', version, type: 'module', exports: { './paths': './dist/paths.js' } };
  writeJson(path.join(server, 'node_modules/@ambient/contract/package.json'), contract);
  writeJson(path.join(server, 'package.json'), { name: 'ambient-mcp', version, private: true, type: 'module', license: 'MIT', engines });
  writeJson(path.join(folder, 'manifest.json'), { ...readJson(path.join(import.meta.dirname, 'manifest.json')), version });
  cpSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  return version;
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Builds the bundle into `out`. @returns its path and SHA-256 */
export function buildBundle(out) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcpb-'));
  try {
    const version = stage(folder);
    mkdirSync(out, { recursive: true });
    const file = path.join(out, `ambient-${version}.mcpb`);
    rmSync(file, { force: true });
    for (const args of [
      ['validate', path.join(folder, 'manifest.json')],
      ['pack', folder, file],
    ])
      execFileSync(process.execPath, [MCPB, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    return { file, version, sha256: createHash('sha256').update(readFileSync(file)).digest('hex') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The registry entry with the published bundle as one more way to install. */
export function serverJson({ version, sha256 }, url) {
  const base = readJson(path.join(ROOT, 'server.json'));
  const bundle = { registryType: 'mcpb', identifier: url, version, fileSha256: sha256, transport: { type: 'stdio' } };
  return { ...base, version, packages: [...(base.packages ?? []), bundle] };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' }, 'release-url': { type: 'string' } } });
  const bundle = buildBundle(path.resolve(values.out));
  console.log(`${bundle.file}\nsha256 ${bundle.sha256}`);
  if (values['release-url']) {
    const file = path.join(path.resolve(values.out), 'server.json');
    writeJson(file, serverJson(bundle, values['release-url']));
    console.log(file);
  }
}
