import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Licences that a dependency of what we ship may have. */
export const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense'];

/**
 * Every package that the workspace's packages need when installed, ours left out.
 * @returns `{ name, version, licence, dir }` sorted by name, one of each version
 */
export function productionPackages(root) {
  const found = new Map();
  const members = ['packages', 'services'].flatMap((group) =>
    readdirSync(path.join(root, group)).map((name) => path.join(root, group, name)),
  );
  for (const dir of members.filter((dir) => existsSync(path.join(dir, 'package.json')))) visit(dir, found);
  return [...found.values()].filter((p) => !p.name.startsWith('@ambient/')).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function visit(dir, found) {
  if (found.has(dir)) return;
  const manifest = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  found.set(dir, { name, version, licence: licenceOf(manifest), dir });
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const target = locate(dir, dependency);
    if (target !== undefined) visit(target, found);
  }
}

/** Where `dependency` is for the package in `dir`; undefined for an optional one of another platform and one that an override removed. */
function locate(dir, dependency) {
  for (let at = dir; ; at = path.dirname(at)) {
    const candidate = path.join(at, 'node_modules', dependency);
    if (existsSync(path.join(candidate, 'package.json'))) return realpathSync(candidate);
    if (at === path.dirname(at)) return undefined;
  }
}

function licenceOf({ license, licenses }) {
  if (typeof license === 'string') return license;
  if (typeof license?.type === 'string') return license.type;
  if (Array.isArray(licenses)) return licenses.map((l) => l.type).join(' OR ');
  return 'unknown';
}

/** True when `licence` is allowed, or offers a choice of which one is. */
export function isAllowed(licence) {
  return licence
    .replace(/[()]/g, '')
    .split(/ OR /i)
    .some((choice) => choice.split(/ AND /i).every((part) => ALLOWED.includes(part.trim())));
}
