/** Runs the built programs in a home of their own, for measuring tools. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A fresh home, `ambientctl` in it, and a way to leave nothing behind. */
export function freshHome(settings = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'amb-'));
  const env = { ...process.env, AMBIENT_HOME: home, NO_COLOR: '1', ...settings };
  const ctl = async (...args) => {
    const { stdout } = await run(process.execPath, [path.join(root, 'packages/cli/bin/ambientctl.js'), ...args], {
      env,
      maxBuffer: 1 << 28,
    });
    return stdout;
  };
  return {
    home,
    env,
    ctl,
    json: async (...args) => JSON.parse(await ctl(...args, '--json')),
    async close() {
      await ctl('daemon', 'stop').catch(() => undefined);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The recordings to measure on: `AMBIENT_SPEECH`, or `speech` in a folder `shared` beside the repository. */
export const speechDir = process.env.AMBIENT_SPEECH ?? path.resolve(root, '../shared/speech');
