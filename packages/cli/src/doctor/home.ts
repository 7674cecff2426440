import { access, constants, lstat, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Check, check, HOME_SCHEMA, type HomePaths } from '@ambient/contract';
import { sessionAccess } from './session-access.js';
import type { LocalCheck } from './types.js';

const ID = 'home';
const TITLE = 'Home folder';
/** Files that are named in one check. */
const MAX_NAMED = 5;
const MOUNT =
  'Mount it for writing (`mount -o remount,rw`; look into the system log for why it is not), or set AMBIENT_HOME to a folder on another disk.';

/** The home, what is in it, and the credentials: whose they are, and who else gets at them. */
export const checkHome: LocalCheck = async ({ paths }) => {
  const state = await homeFolder(paths.home);
  if (state !== 'usable') return [state];
  return [await layout(paths.home), await contents(paths), ...(await credentials(paths))];
};

/** The folder itself, as far as something is wrong with it. */
async function homeFolder(home: string): Promise<Check | 'usable'> {
  const info = await stat(home).catch((error: NodeJS.ErrnoException) => error);
  if (info instanceof Error) {
    if (info.code === 'ENOENT') return absentHome(home);
    return check.failure(ID, TITLE, `${home}: ${info.message}.`, 'Set AMBIENT_HOME to a folder that you can use.');
  }
  if (!info.isDirectory())
    return check.failure(ID, TITLE, `${home} is not a folder.`, 'Move it away, or set AMBIENT_HOME to another folder.');
  if (info.uid !== ownUid())
    return check.failure(
      ID,
      TITLE,
      `${home} belongs to user ${info.uid}.`,
      'Run this as that user, or set AMBIENT_HOME to a folder of yours.',
    );
  const obstacle = await obstacleTo(home);
  if (obstacle === 'read-only') return check.failure(ID, TITLE, `${home} lies on a read-only disk.`, MOUNT);
  if (obstacle !== undefined || (info.mode & 0o700) !== 0o700)
    return check.failure(ID, TITLE, `${home} cannot be read and written.`, `Run: chmod u+rwx '${home}'`);
  const mode = info.mode & 0o777;
  if ((mode & 0o022) !== 0)
    return check.failure(ID, TITLE, `${home} has mode ${octal(mode)}: others can change what is in it.`, `Run: chmod 700 '${home}'`);
  if ((mode & 0o077) !== 0)
    return check.warning(ID, TITLE, `${home} has mode ${octal(mode)}: others can look in.`, `Run: chmod 700 '${home}'`);
  return 'usable';
}

/** A home that is still to be made, as far as that can be told. */
async function absentHome(home: string): Promise<Check> {
  let above = path.dirname(home);
  while (above !== path.dirname(above) && (await stat(above).catch(() => undefined)) === undefined) above = path.dirname(above);
  const obstacle = await obstacleTo(above);
  if (obstacle === undefined) return check.ok(ID, TITLE, `${home} does not exist yet; the daemon makes it.`);
  if (obstacle === 'read-only') return check.failure(ID, TITLE, `${home} cannot be made: ${above} lies on a read-only disk.`, MOUNT);
  return check.failure(
    ID,
    TITLE,
    `${home} cannot be made: you may not write in ${above}.`,
    'Set AMBIENT_HOME to a folder that you can use.',
  );
}

/** What keeps a folder or file from being used. */
async function obstacleTo(file: string): Promise<'read-only' | 'forbidden' | undefined> {
  const { R_OK, W_OK } = constants;
  const error = await access(file, R_OK | W_OK).catch((cause: NodeJS.ErrnoException) => cause);
  if (!(error instanceof Error)) return undefined;
  return error.code === 'EROFS' ? 'read-only' : 'forbidden';
}

/** A home that a later version made is refused by this one. */
async function layout(home: string): Promise<Check> {
  const schema = await readSchema(path.join(home, 'home.json'));
  if (schema === undefined || schema <= HOME_SCHEMA) return check.ok(ID, TITLE, `${home}, mode 700.`);
  const detail = `${home} was made by a later version of Ambient (layout ${schema}; this one knows ${HOME_SCHEMA}).`;
  return check.failure(ID, TITLE, detail, 'Install the later version again, or set AMBIENT_HOME to another folder.');
}

async function readSchema(file: string): Promise<number | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return typeof value === 'object' && value !== null && 'schema' in value && typeof value.schema === 'number' ? value.schema : undefined;
  } catch {
    return undefined;
  }
}

async function contents(paths: HomePaths): Promise<Check> {
  const [id, title] = ['home.contents', 'Contents of the home'];
  const open: string[] = [];
  for (const file of [paths.sessions, paths.logs, paths.mcp, paths.models, paths.library, paths.config]) {
    const info = await lstat(file).catch(() => undefined);
    if (info === undefined) continue;
    if (info.isSymbolicLink())
      return check.failure(id, title, `${file} is a link, which is not followed.`, 'Put the real folder or file in its place.');
    if (info.uid !== ownUid())
      return check.failure(id, title, `${file} belongs to user ${info.uid}.`, `Make it yours: sudo chown -R "$(id -u)" '${file}'`);
    const obstacle = await obstacleTo(file);
    if (obstacle === 'read-only') return check.failure(id, title, `${file} lies on a read-only disk.`, MOUNT);
    if (obstacle !== undefined || (info.mode & 0o600) !== 0o600)
      return check.failure(id, title, `${file} cannot be read and written.`, `Run: chmod u+rwX '${file}'`);
    if ((info.mode & 0o077) !== 0) open.push(`${file} (mode ${octal(info.mode & 0o777)})`);
  }
  const inside = await sessionAccess(paths.sessions, ownUid());
  const [first] = inside.foreign;
  if (first !== undefined) {
    const detail = `${first.file} belongs to user ${first.uid}${others(inside.foreign.length)}.`;
    return check.failure(id, title, detail, `Make it yours: sudo chown -R "$(id -u)" '${paths.sessions}'`);
  }
  open.push(...inside.open);
  if (open.length === 0) return check.ok(id, title, 'Only you can read them.');
  const detail = `Others can read ${open.slice(0, MAX_NAMED).join(', ')}${others(open.length, MAX_NAMED)}.`;
  return check.warning(id, title, detail, `Run: chmod -R go= '${paths.home}'`);
}

function others(count: number, named = 1): string {
  return count > named ? ` and ${count - named} more` : '';
}

/** The shim refuses a credential that others could have read. */
async function credentials({ credentials: dir }: HomePaths): Promise<Check[]> {
  const [id, title] = ['home.credentials', 'Credentials'];
  const folder = await lstat(dir).catch(() => undefined);
  if (folder === undefined) return [];
  const chmod = `Run: chmod -R go= '${dir}'`;
  if (!folder.isDirectory() || folder.uid !== ownUid())
    return [check.failure(id, title, `${dir} is not a folder of this user's own.`, `Move ${dir} away and connect the hosts again.`)];
  if ((folder.mode & 0o077) !== 0) return [check.failure(id, title, `${dir} has mode ${octal(folder.mode & 0o777)}.`, chmod)];
  const names = await readdir(dir);
  for (const name of names) {
    const file = path.join(dir, name);
    const info = await lstat(file).catch(() => undefined);
    if (info === undefined) continue;
    if (!info.isFile() || info.uid !== ownUid())
      return [check.failure(id, title, `${file} is not a file of this user's own.`, `Remove it and connect the host again.`)];
    if ((info.mode & 0o077) !== 0)
      return [
        check.failure(id, title, `${file} has mode ${octal(info.mode & 0o777)}: others could have read it, and it is refused.`, chmod),
      ];
  }
  return [check.ok(id, title, `${names.length} in files that only you can read.`)];
}

function octal(mode: number): string {
  return mode.toString(8);
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}
