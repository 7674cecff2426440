import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** True where a disk of its own can be given to a test, which takes root. */
export function canMount(): boolean {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'amm-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('No disk can be mounted here: tests that need one are skipped (they need root).\n');
    return false;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
