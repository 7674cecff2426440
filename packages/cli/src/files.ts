import { randomBytes } from 'node:crypto';
import { link, open, rename, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

/**
 * Writes a whole file or nothing. Without `replace`, an existing file stays as it is.
 * @throws AmbientError `conflict` when the file exists, `not_found` when its folder does not, `disk_full`, `forbidden`
 */
export async function writeWhole(file: string, content: string, { replace }: { replace: boolean }): Promise<void> {
  if (await isDevice(file)) return writeInto(file, content);
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o666);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (replace) await rename(temporary, file);
    else await link(temporary, file);
  } catch (cause) {
    throw writeError(file, cause as NodeJS.ErrnoException);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** True for a device, a pipe or a socket: it is written into, never replaced. */
async function isDevice(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => undefined);
  return info !== undefined && !info.isFile() && !info.isDirectory();
}

async function writeInto(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content, { flag: 'r+' });
  } catch (cause) {
    throw writeError(file, cause as NodeJS.ErrnoException);
  }
}

function writeError(file: string, cause: NodeJS.ErrnoException): AmbientError {
  const options = { cause };
  switch (cause.code) {
    case 'EEXIST':
      return new AmbientError('conflict', `${file} exists already.`, 'Add --force to replace it, or give another --out.', options);
    case 'EISDIR':
      return new AmbientError('conflict', `${file} is a folder.`, 'Give --out the name of a file.', options);
    case 'ENOENT':
    case 'ENOTDIR':
      return new AmbientError('not_found', `There is no folder ${path.dirname(file)}.`, 'Make it first, or give another --out.', options);
    case 'ENOSPC':
      return new AmbientError('disk_full', 'The disk is full.', 'Free some space and try again.', options);
    default:
      return new AmbientError('forbidden', `${file} cannot be written: ${cause.message}.`, 'Give another --out.', options);
  }
}
