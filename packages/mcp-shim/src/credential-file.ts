import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { HomePaths } from '@ambient/contract/paths';
import { CredentialError } from './credential-error.js';

const MAX_BYTES = 4096;

/**
 * The credential that a 0600 file holds, or undefined when there is no such file.
 * @throws CredentialError when someone else could have read or written it
 */
export async function readCredentialFile(paths: HomePaths, id: string): Promise<string | undefined> {
  const file = path.join(paths.credentials, id);
  let handle: FileHandle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw unsafe(file, 'it is a symbolic link', `Remove the link and run \`ambientctl mcp connect HOST\` again.`);
    throw unsafe(file, `it cannot be opened (${code ?? 'unknown reason'})`, `Run \`chmod 600 '${file}'\` as its owner.`);
  }
  try {
    const folder = await lstat(paths.credentials);
    if (!folder.isDirectory() || folder.uid !== ownUid() || (folder.mode & 0o022) !== 0)
      throw unsafe(paths.credentials, 'others may write to this folder', `Run \`chmod 700 '${paths.credentials}'\` as its owner.`);
    const stat = await handle.stat();
    if (!stat.isFile()) throw unsafe(file, 'it is not a regular file', 'Remove it and run `ambientctl mcp connect HOST` again.');
    if (stat.uid !== ownUid()) throw unsafe(file, 'it belongs to another user', 'Remove it and run `ambientctl mcp connect HOST` again.');
    if ((stat.mode & 0o077) !== 0)
      throw unsafe(file, 'other users may read it', `Run \`chmod 600 '${file}'\`, or better \`ambientctl mcp revoke\` and connect again.`);
    if (stat.size > MAX_BYTES)
      throw unsafe(file, 'it is too large to be a credential', 'Remove it and run `ambientctl mcp connect HOST` again.');
    const token = (await handle.readFile('utf8')).trim();
    return token === '' ? undefined : token;
  } finally {
    await handle.close();
  }
}

/** Writes the credential to a 0600 file in a 0700 folder, replacing an older one in one step. */
export async function writeCredentialFile(paths: HomePaths, id: string, token: string): Promise<void> {
  await mkdir(paths.credentials, { recursive: true, mode: 0o700 });
  const folder = await lstat(paths.credentials);
  if (!folder.isDirectory() || folder.uid !== ownUid())
    throw unsafe(paths.credentials, 'it is not a folder of yours', 'Move it away and try again.');
  const file = path.join(paths.credentials, id);
  const temporary = `${file}.${process.pid}.new`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${token}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** True when there was a file to remove. */
export async function removeCredentialFile(paths: HomePaths, id: string): Promise<boolean> {
  try {
    await rm(path.join(paths.credentials, id));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

function ownUid(): number {
  return process.getuid?.() ?? -1;
}

function unsafe(file: string, reason: string, hint: string): CredentialError {
  return new CredentialError({ code: 'unsafe_credential', message: `Refusing ${file}: ${reason}.`, hint });
}
