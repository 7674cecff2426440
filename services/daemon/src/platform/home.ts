import { chmod, lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@ambient/client';
import { AmbientError, HOME_SCHEMA, type HomePaths } from '@ambient/contract';
import writeFileAtomic from 'write-file-atomic';

/**
 * Makes the home's folders, private to the user.
 * @throws AmbientError `forbidden` when the folder of the sockets is not ours alone, `too_new` for a later build's home
 */
export async function prepareHome(paths: HomePaths): Promise<void> {
  try {
    await makeFolder(paths.home);
    await checkSchema(paths.home);
    for (const dir of [paths.sessions, paths.logs, paths.mcp, paths.run]) await makeFolder(dir);
  } catch (cause) {
    if (cause instanceof AmbientError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new AmbientError(
      'bad_config',
      `The home ${paths.home} cannot be used: ${code ?? message}.`,
      'Set AMBIENT_HOME to a folder that you can write to.',
      { cause },
    );
  }
  await requirePrivate(paths.run);
}

/** Makes sure that a folder is this user's alone. @throws AmbientError `forbidden` */
export async function requirePrivate(dir: string): Promise<void> {
  const info = await lstat(dir);
  const uid = process.getuid?.() ?? info.uid;
  if (!info.isDirectory() || info.uid !== uid)
    throw new AmbientError('forbidden', `${dir} is not a folder of this user's own.`, `Remove ${dir} and start the daemon again.`);
  if ((info.mode & 0o077) !== 0) await chmod(dir, 0o700);
}

async function checkSchema(home: string): Promise<void> {
  const file = path.join(home, 'home.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await writeFileAtomic(file, `${JSON.stringify({ schema: HOME_SCHEMA })}\n`, { mode: 0o600 });
    return;
  }
  const schema = readSchema(text);
  if (schema !== undefined && schema > HOME_SCHEMA)
    throw new AmbientError(
      'too_new',
      `${home} was made by a later version (layout ${schema}; this build knows ${HOME_SCHEMA}).`,
      'Install the later version again, or set AMBIENT_HOME to another folder.',
    );
  if (schema !== HOME_SCHEMA) await writeFileAtomic(file, `${JSON.stringify({ schema: HOME_SCHEMA })}\n`, { mode: 0o600 });
}

function readSchema(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'schema' in value && typeof value.schema === 'number' ? value.schema : undefined;
  } catch {
    return undefined;
  }
}
