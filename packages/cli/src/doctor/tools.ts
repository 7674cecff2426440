import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { type Check, check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import type { LocalCheck } from './types.js';

const RECORDERS = ['sox', 'arecord', 'parec'] as const;
/** Where Homebrew and MacPorts install; the daemon looks there too. */
const MAC_FOLDERS = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'];

/** The programs that a terminal finds. */
export const checkTools: LocalCheck = async ({ env }) => {
  const importer = await missing(['ffmpeg', 'ffprobe'], env);
  const system = await missing(['parec', 'pactl'], env);
  const recorders = await missing(RECORDERS, env);
  const mac = process.platform === 'darwin';
  return [
    importer.length === 0
      ? check.ok('tool.ffmpeg', 'ffmpeg', 'Found.')
      : check.warning('tool.ffmpeg', 'ffmpeg', `${importer.join(' and ')} not found: only WAV files can be imported.`, install('ffmpeg')),
    recorders.length < RECORDERS.length
      ? check.ok('tool.recorder', 'Recording programs', `${RECORDERS.filter((name) => !recorders.includes(name)).join(', ')}.`)
      : check.failure('tool.recorder', 'Recording programs', `None of ${RECORDERS.join(', ')} is found.`, install('sox')),
    ...(mac
      ? []
      : [
          system.length === 0
            ? check.ok('tool.system', 'Programs for system audio', 'parec, pactl.')
            : check.failure(
                'tool.system',
                'Programs for system audio',
                `${system.join(' and ')} not found: calls cannot be recorded.`,
                install('pulseaudio-utils'),
              ),
        ]),
  ];
};

/** The daemon's checks, where one misses a program that `here`, the same looked at from a terminal, has found: that is a matter of PATH. */
export function foundHereOnly(checks: readonly Check[], here: readonly Check[]): Check[] {
  return checks.map((seen) => {
    const own = here.find(({ id }) => id === seen.id);
    if (seen.status === 'ok' || own?.status !== 'ok') return seen;
    const fix =
      'This terminal finds it: run `ambientctl daemon restart` here, or `ambientctl daemon install` where the daemon is a service.';
    return { ...seen, fix };
  });
}

async function missing(names: readonly string[], env: CliContext['env']): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => ({ name, there: await isFound(name, env) })));
  return found.flatMap(({ name, there }) => (there ? [] : [name]));
}

async function isFound(name: string, env: CliContext['env']): Promise<boolean> {
  const folders = (env.PATH ?? '').split(path.delimiter).filter((dir) => path.isAbsolute(dir));
  if (process.platform === 'darwin') folders.push(...MAC_FOLDERS);
  for (const dir of folders) {
    const executable = await access(path.join(dir, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return true;
  }
  return false;
}

function install(name: string): string {
  return process.platform === 'darwin'
    ? `Install it: brew install ${name}`
    : `Install it: sudo apt install ${name} (or your system's own way)`;
}
