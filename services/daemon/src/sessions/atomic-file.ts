import { lstat, readdir, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import writeFileAtomic from 'write-file-atomic';
import { refusedSymlink, syncDirectory } from '../platform/files.js';

/** Mode of every file in a session folder. */
export const FILE_MODE = 0o600;
/** Mode of every folder of a session. */
export const DIR_MODE = 0o700;
/** What a kill in the middle of `replaceFile` leaves behind. */
export const TEMPORARY_NAME = /^(?:session\.json|transcript\.md|raw\.jsonl|edits\.jsonl)\.\d+$/;

/**
 * Replaces a file so that a reader, or a start after a crash, finds either the old content or the new; durable on return.
 * @throws AmbientError `refused_symlink`, `disk_full`
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  const data = Buffer.from(content);
  // write-file-atomic would follow a link and replace what it points to.
  if ((await lstat(file).catch(() => undefined))?.isSymbolicLink()) throw refusedSymlink(file);
  try {
    await writeFileAtomic(file, data, {
      mode: FILE_MODE,
      // It also takes a short write for a whole one, which on a full disk would put half a file in place: fill the file first.
      tmpfileCreated: (temporary) => writeFile(temporary, data),
    });
    await syncDirectory(path.dirname(file));
  } catch (error) {
    throw asDiskFull(error);
  }
}

/** Removes what kills in the middle of `replaceFile` left in a folder. Nothing may be writing there. */
export async function removeTemporaries(dir: string): Promise<void> {
  for (const name of await readdir(dir)) if (TEMPORARY_NAME.test(name)) await unlink(path.join(dir, name));
}

/** The `disk_full` error when that is what went wrong, else the error itself. */
export function asDiskFull(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new AmbientError('disk_full', 'The disk is full.', 'Free some space; what was captured so far is kept.', { cause: error });
}
