#!/usr/bin/env node
// Lists the licences of everything that ships; exits 1 when one is not on the allow list. `--list` names each package.
import path from 'node:path';
import { isAllowed, productionPackages } from './production.mjs';

const packages = productionPackages(path.resolve(import.meta.dirname, '../..'));
if (process.argv.includes('--list')) for (const p of packages) console.log(`${p.licence}\t${p.name}@${p.version}`);
const refused = packages.filter((p) => !isAllowed(p.licence));
console.log(`${packages.length} packages ship; ${refused.length} have a licence that is not allowed.`);
for (const p of refused) console.log(`${p.name}@${p.version}: ${p.licence} (${path.relative(process.cwd(), p.dir)})`);
process.exitCode = refused.length === 0 ? 0 : 1;
