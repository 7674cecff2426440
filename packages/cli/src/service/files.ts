import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import writeFileAtomic from 'write-file-atomic';

/** Text of a file, or undefined when it does not exist. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes a file atomically when its content differs. Not writable by others: launchd refuses such a file.
 * @returns true when it was written
 * @throws AmbientError `forbidden` when the folder cannot be written
 */
export async function writeIfChanged(file: string, text: string, mode = 0o644): Promise<boolean> {
  if ((await readText(file)) === text) return false;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFileAtomic(file, text, { mode });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new AmbientError('forbidden', `${file} cannot be written: ${code ?? message}.`, `Check who owns ${path.dirname(file)}.`, {
      cause,
    });
  }
  return true;
}

/** @returns true when the file was there */
export async function removeFile(file: string): Promise<boolean> {
  try {
    await rm(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
