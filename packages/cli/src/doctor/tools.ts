import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { Check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { failure, type LocalCheck, ok, warning } from './types.js';

const RECORDERS = ['sox', 'arecord', 'parec'] as const;

export const checkTools: LocalCheck = async ({ env }) => [await importer(env), await recorders(env)];

async function importer(env: CliContext['env']): Promise<Check> {
  const ffmpeg = await findProgram('ffmpeg', env);
  if (ffmpeg !== undefined) return ok('tool.ffmpeg', 'ffmpeg', ffmpeg);
  return warning('tool.ffmpeg', 'ffmpeg', 'not found: only WAV files can be imported', `Install ffmpeg: ${installHint('ffmpeg')}`);
}

async function recorders(env: CliContext['env']): Promise<Check> {
  const [id, title] = ['tool.recorder', 'Recording programs'];
  const found: string[] = [];
  for (const name of RECORDERS) if ((await findProgram(name, env)) !== undefined) found.push(name);
  if (found.length > 0) return ok(id, title, found.join(', '));
  return failure(id, title, `none of ${RECORDERS.join(', ')} is found`, `Install sox: ${installHint('sox')}`);
}

function installHint(name: string): string {
  return process.platform === 'darwin' ? `brew install ${name}` : `sudo apt install ${name} (or your system's own way)`;
}

/** Absolute path of a program on PATH. */
export async function findProgram(name: string, env: CliContext['env']): Promise<string | undefined> {
  for (const dir of (env.PATH ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(dir)) continue;
    const file = path.join(dir, name);
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}
