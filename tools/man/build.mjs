#!/usr/bin/env node
// Writes ambientctl(1) from the definitions of the verbs: `node tools/man/build.mjs [FILE]`. Needs a build.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CLI = path.resolve(import.meta.dirname, '../../packages/cli');
const file = path.resolve(process.argv[2] ?? path.join(CLI, 'man/ambientctl.1'));
const page = execFileSync(process.execPath, [path.join(CLI, 'bin/ambientctl.js'), 'completion', 'man'], { encoding: 'utf8' });
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, page);
