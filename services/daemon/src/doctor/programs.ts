import { type Check, check } from '@ambient/contract';
import { findProgram } from '../capture/programs.js';

const RECORDERS = ['sox', 'arecord', 'parec'] as const;

/** The programs that the daemon finds: its PATH need not be that of a terminal. */
export async function programChecks(platform: NodeJS.Platform): Promise<Check[]> {
  const where = `in the daemon's PATH (${process.env.PATH ?? 'empty'})`;
  const importer = await missing(['ffmpeg', 'ffprobe']);
  const system = platform === 'darwin' ? [] : await missing(['parec', 'pactl']);
  const without = await missing(RECORDERS);
  return [
    importer.length === 0
      ? check.ok('tool.ffmpeg', 'ffmpeg', (await findProgram('ffmpeg')) ?? '')
      : check.warning(
          'tool.ffmpeg',
          'ffmpeg',
          `${importer.join(' and ')} not found ${where}: only WAV files can be imported.`,
          `Install ffmpeg: ${install('ffmpeg', platform)}.`,
        ),
    without.length < RECORDERS.length
      ? check.ok('tool.recorder', 'Recording programs', `${RECORDERS.filter((name) => !without.includes(name)).join(', ')}.`)
      : check.failure(
          'tool.recorder',
          'Recording programs',
          `None of ${RECORDERS.join(', ')} is found ${where}: the microphone cannot be recorded.`,
          `Install sox: ${install('sox', platform)}.`,
        ),
    ...(platform === 'darwin'
      ? []
      : [
          system.length === 0
            ? check.ok('tool.system', 'Programs for system audio', 'parec, pactl.')
            : check.failure(
                'tool.system',
                'Programs for system audio',
                `${system.join(' and ')} not found ${where}: calls cannot be recorded.`,
                `Install them: ${install('pulseaudio-utils', platform)}.`,
              ),
        ]),
  ];
}

async function missing(names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => ({ name, path: await findProgram(name) })));
  return found.flatMap(({ name, path }) => (path === null ? [name] : []));
}

function install(name: string, platform: NodeJS.Platform): string {
  return platform === 'darwin' ? `brew install ${name}` : `sudo apt install ${name}`;
}
