import { randomBytes } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';

const MIB = 1024 * 1024;
/** Enough for the last words of a session and of its index. */
const RESERVE_BYTES = 256 * 1024;

/** Free space of the file system that holds `dir`, MiB, as far as this user may use it. */
export async function freeMiB(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return (bavail * bsize) / MIB;
}

/**
 * How much room there is, by what the user set.
 * @param free MiB, as are `low` and `stop`
 */
export function diskState(free: number, low: number, stop: number): 'ok' | 'low' | 'full' {
  // Below the reserve not even a session's last words fit, whatever the setting says.
  if (free < Math.max(stop, RESERVE_BYTES / MIB)) return 'full';
  return free < low ? 'low' : 'ok';
}

/** True for the errors that mean that nothing more fits. */
export function isDiskFull(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG';
}

/** Space held while something records, and given up when the disk is full: a full disk must still take the news that it is. */
export class DiskReserve {
  readonly #file: string;

  /** @param dir the folder that holds session folders; the reserve is one for all */
  constructor(dir: string) {
    this.#file = path.join(dir, '.reserve');
  }

  /** Takes the space, if there is any. */
  async hold(): Promise<void> {
    // Not zeros: some file systems store those in no space at all.
    await writeFile(this.#file, randomBytes(RESERVE_BYTES), { mode: 0o600 }).catch(() => this.release());
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true }).catch(() => {});
  }
}
