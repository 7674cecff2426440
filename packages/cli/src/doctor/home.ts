import { access, constants, stat } from 'node:fs/promises';
import { failure, type LocalCheck, ok, warning } from './types.js';

const ID = 'home';
const TITLE = 'Home folder';

export const checkHome: LocalCheck = async ({ paths }) => {
  const { home } = paths;
  const info = await stat(home).catch((error: NodeJS.ErrnoException) => error);
  if (info instanceof Error) {
    if (info.code === 'ENOENT') return [ok(ID, TITLE, `${home} does not exist yet; the daemon makes it`)];
    return [failure(ID, TITLE, `${home}: ${info.message}`, 'Set AMBIENT_HOME to a folder that you can use.')];
  }
  if (!info.isDirectory()) return [failure(ID, TITLE, `${home} is not a folder`, 'Move it away, or set AMBIENT_HOME to another folder.')];
  const uid = process.getuid?.() ?? info.uid;
  if (info.uid !== uid) return [failure(ID, TITLE, `${home} belongs to user ${info.uid}`, 'Run this as that user, or set AMBIENT_HOME.')];
  try {
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [failure(ID, TITLE, `${home} cannot be written to`, `Run: chmod u+rwx '${home}'`)];
  }
  const mode = info.mode & 0o777;
  const detail = `${home}, mode ${mode.toString(8)}`;
  return [(mode & 0o077) === 0 ? ok(ID, TITLE, detail) : warning(ID, TITLE, `${detail}: others can look in`, `Run: chmod 700 '${home}'`)];
};
