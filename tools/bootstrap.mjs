#!/usr/bin/env node
// Sets up a checkout: `node tools/bootstrap.mjs [--system]`. Needs Node, npm and a C++ toolchain, nothing else.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exclusively } from './lib/lock.mjs';
import { onPathLine } from './lib/on-path.mjs';
import { capture, report, StepError, step } from './lib/steps.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';

export const ROOT = path.resolve(import.meta.dirname, '..');
const MANIFEST = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
/** Inside node_modules: what it was installed from. */
const STAMP = path.join(ROOT, 'node_modules', '.ambient-setup.json');
const RETRY_AFTER_MS = 3000;
const NETWORK =
  /ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EPIPE|ERR_SOCKET|socket hang up|network|FETCH|META_|TARBALL|Bad Gateway|50[0-4]/i;

/**
 * Installs and builds what is out of date. Safe to run twice, and at the same time from several processes.
 * @throws StepError with what to do next
 */
export async function bootstrap({ system = false } = {}) {
  checkNode();
  await exclusively(ROOT, async () => {
    if (system) await installSystemPackages();
    await install();
    await build();
  });
}

function checkNode() {
  const [wantMajor, wantMinor] = MANIFEST.engines.node.match(/\d+/g).map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < wantMajor || (major === wantMajor && minor < wantMinor))
    throw new StepError(
      `Node ${MANIFEST.engines.node} is needed; this is ${process.versions.node}. Install a newer Node (https://nodejs.org), then run this again.`,
    );
}

async function install() {
  const wanted = { packages: packagesHash(), abi: process.versions.modules, platform: `${process.platform}-${process.arch}` };
  const present = readStamp();
  if (JSON.stringify(present) === JSON.stringify(wanted) && isComplete()) return;
  rmSync(STAMP, { force: true });
  await step('Installing packages', async () => {
    await pnpm('install', '--frozen-lockfile', '--config.confirm-modules-purge=false');
    // Native addons built for another Node do not load in this one.
    if (present !== undefined && present.abi !== wanted.abi) await pnpm('rebuild');
  });
  writeFileSync(STAMP, JSON.stringify(wanted));
}

/** Hash of everything that decides what an install gives. */
function packagesHash() {
  const hash = createHash('sha256').update(MANIFEST.packageManager);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

/** True when every workspace package has its links to what it depends on. */
function isComplete() {
  const members = ['packages', 'services'].flatMap((group) =>
    readdirSync(path.join(ROOT, group)).map((name) => path.join(ROOT, group, name)),
  );
  return members.every((dir) => {
    const file = path.join(dir, 'package.json');
    if (!existsSync(file)) return true;
    const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8'));
    return Object.keys(dependencies).every((name) => existsSync(path.join(dir, 'node_modules', name)));
  });
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return undefined;
  }
}

async function pnpm(...args) {
  const run = () => capture('npx', ['--yes', MANIFEST.packageManager.replace(/\+.*$/, ''), ...args], { cwd: ROOT, env: installEnv() });
  let result = await run();
  if (result.code !== 0 && NETWORK.test(result.output)) {
    await sleep(RETRY_AFTER_MS);
    result = await run();
  }
  if (result.code !== 0)
    throw new StepError(`Packages could not be installed.${advice(result.output)} Then run this again.`, result.output);
}

function advice(output) {
  if (/not found: make|g\+\+|gyp ERR!.*(make|compiler)/i.test(output))
    return ' A C++ toolchain is needed (Debian: apt-get install g++ make python3).';
  if (/find Python/i.test(output)) return ' Python 3 is needed to compile SQLite (Debian: apt-get install python3).';
  if (/ENOSPC/.test(output)) return ' The disk is full: free some space.';
  if (NETWORK.test(output)) return ' The package registry was not reached: check the network.';
  return ' The reason stands above.';
}

/** The environment without what npm adds for its own scripts, and with Node's own headers where they are installed. */
function installEnv() {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_(lifecycle|package|config_local_prefix|config_global_prefix)/.test(key)),
  );
  const prefix = path.resolve(path.dirname(process.execPath), '..');
  if (env.npm_config_nodedir === undefined && headersVersion(prefix) === process.versions.node) env.npm_config_nodedir = prefix;
  return env;
}

/** Version of the Node headers under `prefix`, so that compiling an addon needs no download; undefined when there are none. */
function headersVersion(prefix) {
  const file = path.join(prefix, 'include/node/node_version.h');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return ['MAJOR', 'MINOR', 'PATCH'].map((part) => new RegExp(`NODE_${part}_VERSION (\\d+)`).exec(text)?.[1]).join('.');
}

async function build() {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  await step('Building', async () => {
    const result = await capture(process.execPath, [tsc, '-b'], { cwd: ROOT });
    if (result.code !== 0) throw new StepError('The build failed. Fix the errors above, then run this again.', result.output);
  });
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await bootstrap({ system: process.argv.includes('--system') });
    const line = onPathLine(ROOT);
    if (line !== undefined) console.log(line);
  } catch (error) {
    process.exitCode = report(error);
  }
}
