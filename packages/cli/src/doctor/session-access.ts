import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Who else gets at what was recorded. */
export interface SessionAccess {
  /** Files and folders that others can read or change, with their modes. */
  readonly open: readonly string[];
  /** Files and folders of another user. */
  readonly foreign: readonly { readonly file: string; readonly uid: number }[];
}

/** A session holds files and at most a folder of them. */
const DEPTH = 3;

/** Looks at every session's folder and files; links are looked at, not followed. */
export async function sessionAccess(sessions: string, uid: number): Promise<SessionAccess> {
  const open: string[] = [];
  const foreign: { file: string; uid: number }[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    for (const { name } of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const file = path.join(folder, name);
      const info = await lstat(file).catch(() => undefined);
      if (info === undefined) continue;
      if (info.uid !== uid) foreign.push({ file, uid: info.uid });
      else if (!info.isSymbolicLink() && (info.mode & 0o077) !== 0) open.push(`${file} (mode ${(info.mode & 0o777).toString(8)})`);
      if (info.isDirectory() && depth > 1) await look(file, depth - 1);
    }
  };
  await look(sessions, DEPTH);
  return { open, foreign };
}
