import { randomBytes } from 'node:crypto';
import { constants, copyFile, link, open, rename, stat, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

/**
 * Writes a whole file or nothing. Without `replace`, an existing file stays as it is.
 * @throws AmbientError `conflict` when the file exists or is a folder, `not_found` when its folder does not exist, `disk_full`, `forbidden`
 */
export async function writeWhole(file: string, content: string, { replace }: { replace: boolean }): Promise<void> {
  const present = await stat(file).catch(() => undefined);
  if (present?.isDirectory()) throw isFolder(file);
  // A device, a pipe or a socket is written into, never replaced.
  if (present !== undefined && !present.isFile()) return writeInto(file, content);
  const temporary = path.join(path.dirname(file), `.ambient-${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o666);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (replace) await rename(temporary, file);
    else await put(temporary, file);
  } catch (cause) {
    throw await writeError(file, cause as NodeJS.ErrnoException);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Gives a finished file its name unless that is taken; where a file cannot have two names, as on many sticks, it is copied. */
async function put(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(temporary, file, constants.COPYFILE_EXCL);
  }
}

async function writeInto(file: string, content: string): Promise<void> {
  try {
    await writeFile(file, content, { flag: 'r+' });
  } catch (cause) {
    throw await writeError(file, cause as NodeJS.ErrnoException);
  }
}

function isFolder(file: string): AmbientError {
  return new AmbientError('conflict', `${file} is a folder.`, 'Give --out the name of a file in it.');
}

async function writeError(file: string, cause: NodeJS.ErrnoException): Promise<AmbientError> {
  const folder = path.dirname(file);
  const forbidden = (message: string): AmbientError =>
    new AmbientError('forbidden', message, 'Give --out a file in another folder, such as your own.', { cause });
  switch (cause.code) {
    case 'EEXIST':
      return new AmbientError('conflict', `${file} exists already.`, 'Add --force to replace it, or give another --out.', { cause });
    case 'EISDIR':
      return isFolder(file);
    case 'ENOENT':
    case 'ENOTDIR':
      // Some file systems say of every new name that it does not exist, as /proc does.
      if ((await stat(folder).catch(() => undefined))?.isDirectory()) return forbidden(`No file can be made in ${folder}.`);
      return new AmbientError('not_found', `There is no folder ${folder}.`, 'Make it first, or give another --out.', { cause });
    case 'ENOSPC':
    case 'EDQUOT':
      return new AmbientError('disk_full', 'The disk is full.', 'Free some space and try again.', { cause });
    case 'EROFS':
      return forbidden(`${folder} lies on a read-only disk.`);
    case 'EACCES':
    case 'EPERM':
      return forbidden(`You may not write ${file}.`);
    case 'ENAMETOOLONG':
      return new AmbientError('bad_request', `The name of ${path.basename(file).slice(0, 40)}… is too long.`, 'Give a shorter --out.', {
        cause,
      });
    default:
      return forbidden(`${file} cannot be written (${cause.code ?? cause.message}).`);
  }
}
