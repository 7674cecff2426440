import { AmbientError, type Config } from '@ambient/contract';
import { findProgram } from '../../programs.js';
import { type PulseSource, pulseSources } from '../../pulse.js';

export type MicRecorder = 'sox' | 'arecord' | 'parec';

export interface MicRequest {
  /** What to record; null takes the default device. */
  readonly device: string | null;
  /** Program to record with; `auto` takes the first that works. */
  readonly recorder: Config['audio.recorder'];
}

/** What this machine has to record a microphone with. */
export interface MicProbe {
  /** Installed programs in the order they are tried. */
  readonly programs: readonly { readonly name: MicRecorder; readonly path: string }[];
  /** Set when the wanted device is a source of the sound server. */
  readonly pulseSource: PulseSource | null;
  readonly platform: NodeJS.Platform;
}

const ORDER: readonly MicRecorder[] = ['sox', 'arecord', 'parec'];

/** Programs that can record a microphone, with where they are; in the order they are tried. */
export async function micPrograms(): Promise<readonly { readonly name: MicRecorder; readonly path: string | null }[]> {
  return Promise.all(ORDER.map(async (name) => ({ name, path: await findProgram(name) })));
}

/**
 * Finds out what can be tried.
 * @throws AmbientError `missing_tool` when no program that is wanted is installed
 */
export async function probeMic(request: MicRequest, platform: NodeJS.Platform): Promise<MicProbe> {
  const wanted = (await micPrograms()).filter(({ name }) => request.recorder === 'auto' || request.recorder === name);
  const programs = wanted.flatMap(({ name, path }) => (path === null ? [] : [{ name, path }]));
  if (programs.length === 0) throw missing(request.recorder, platform);
  const sources = request.device === null ? [] : await pulseSources();
  return { programs, pulseSource: sources.find((source) => source.name === request.device) ?? null, platform };
}

function missing(recorder: MicRequest['recorder'], platform: NodeJS.Platform): AmbientError {
  const what =
    recorder === 'auto'
      ? 'No program that records a microphone is installed (sox, arecord, parec).'
      : `audio.recorder is ${recorder}, which is not installed.`;
  const fix = platform === 'darwin' ? 'brew install sox' : 'sudo apt install sox';
  return new AmbientError('missing_tool', what, recorder === 'auto' ? `${fix}` : `Install it, or: ambientctl config audio.recorder auto`);
}
