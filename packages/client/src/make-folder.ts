import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a folder and those above it, private to the user. Unlike Node's recursive `mkdir` it ends everywhere: that one tries
 * for ever where a file system says of every new name that it does not exist, as /proc does.
 * @throws the first error other than `EEXIST` on a folder
 */
export async function makeFolder(dir: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(dir, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path.dirname(dir) !== dir) {
      await makeFolder(path.dirname(dir), mode);
      await mkdir(dir, { mode }).catch(ignorePresent);
    } else ignorePresent(error as NodeJS.ErrnoException);
  }
}

/** A name that is taken by a file shows itself when something is put into it. */
function ignorePresent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
