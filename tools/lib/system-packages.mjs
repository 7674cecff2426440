import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { capture, step } from './steps.mjs';

/** Every Debian package the tests use: `{ package, why }`. */
export const SYSTEM_PACKAGES = JSON.parse(readFileSync(path.join(import.meta.dirname, '../system-packages.json'), 'utf8'));

/**
 * Installs the missing packages on Debian as root; elsewhere says which are missing and goes on.
 * A failure is printed and never thrown: the tests that need a package say so themselves.
 */
export async function installSystemPackages() {
  if (!existsSync('/etc/debian_version')) {
    console.log(`  System packages: not Debian. Some tests need: ${names(SYSTEM_PACKAGES)}`);
    return;
  }
  const missing = await missingPackages();
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0) {
    console.log(`  System packages are missing. Some tests need: sudo apt-get install --no-install-recommends ${names(missing)}`);
    return;
  }
  try {
    await step(`Installing system packages: ${names(missing)}`, () => aptInstall(missing));
  } catch (error) {
    console.log(`  ${error.message}`);
    const left = await missingPackages();
    if (left.length > 0) console.log(`  Still missing: ${names(left)}. Tests that need them will say so.`);
  }
}

async function aptInstall(missing) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => capture('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3', ...args], { env });
  await apt('update');
  const all = await apt('install', '--no-install-recommends', ...missing.map((p) => p.package));
  if (all.code === 0) return;
  // One package that this release does not have must not keep the others out.
  const failures = [];
  for (const { package: name } of missing) {
    const one = await apt('install', '--no-install-recommends', name);
    if (one.code !== 0) failures.push(`${name}: ${one.output.trim().split('\n').at(-1)}`);
  }
  if (failures.length > 0) throw new Error(`apt-get could not install ${failures.join('; ')}`);
}

async function missingPackages() {
  const { output } = await capture('dpkg-query', [
    '-W',
    '-f',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are dpkg's
    '${Package} ${db:Status-Status}\n',
    ...SYSTEM_PACKAGES.map((p) => p.package),
  ]);
  const installed = new Set(
    output
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return SYSTEM_PACKAGES.filter((p) => !installed.has(p.package));
}

function names(packages) {
  return packages.map((p) => p.package).join(' ');
}
