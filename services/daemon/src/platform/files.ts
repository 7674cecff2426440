import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

/** True for a name that is exactly one path segment and names no parent, no dotfile and no device. */
export function isPlainSegment(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= 255 && !name.startsWith('.') && !/[/\\\u0000-\u001f\u007f]/.test(name);
}

/**
 * Opens a regular file without following a link in its last segment; `mode` is for one that `flags` creates.
 * @throws AmbientError `refused_symlink`
 */
export async function openNoFollow(file: string, flags = constants.O_RDONLY, mode = 0o600): Promise<FileHandle> {
  try {
    return await open(file, flags | constants.O_NOFOLLOW, mode);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP') throw refusedSymlink(file, cause);
    throw cause;
  }
}

/** Reads a whole file without following a link. Undefined when it does not exist. */
export async function readNoFollow(file: string): Promise<Buffer | undefined> {
  let handle: FileHandle;
  try {
    handle = await openNoFollow(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return await readFile(handle);
  } finally {
    await handle.close();
  }
}

/** True for a directory that is not a link. */
export async function isRealDirectory(dir: string): Promise<boolean> {
  try {
    return (await lstat(dir)).isDirectory();
  } catch {
    return false;
  }
}

/** Makes renames and new names in `dir` durable. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function refusedSymlink(file: string, cause?: unknown): AmbientError {
  return new AmbientError('refused_symlink', `refusing symlink ${path.basename(file)}`, 'Replace the link by the real file or folder.', {
    cause,
  });
}
