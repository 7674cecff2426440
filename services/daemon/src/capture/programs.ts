import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** Where Homebrew and MacPorts install: launchd's PATH leaves them out. */
const MAC_FOLDERS = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'];
const run = promisify(execFile);

/** Absolute path of a program on PATH, or null. */
export async function findProgram(name: string): Promise<string | null> {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  if (process.platform === 'darwin') folders.push(...MAC_FOLDERS);
  for (const folder of folders) {
    const file = path.join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return null;
}

/**
 * Standard output of a short program, in the C locale so that it can be parsed.
 * @throws when it is missing, fails, or takes longer than `timeoutMs`
 */
export async function output(program: string, args: readonly string[], timeoutMs = 3000): Promise<string> {
  const { stdout } = await run(program, args, {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 8 * 1024 * 1024,
    env: { ...process.env, LC_ALL: 'C' },
  });
  return stdout;
}
