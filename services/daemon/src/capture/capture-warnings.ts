import type { AmbientError, Track, Warning } from '@ambient/contract';
import type { SourceDeath, SourceInfo } from './source.js';

type NewWarning = Omit<Warning, 'at'>;

const NAMES: Readonly<Record<Track, string>> = { room: 'The microphone', call: 'System audio' };

const TOO_FAST_HINT =
  'Choose another device: `ambientctl devices`, then `ambientctl start --device ID`. This one is started again until it keeps time.';

/** A device track went down and is being restarted. */
export function deviceWarning(track: Track, death: SourceDeath, fromMs: number): NewWarning {
  const name = NAMES[track];
  const base = { code: death.reason, track, from_ms: fromMs };
  if (death.reason === 'sleep')
    return { ...base, message: `${name} was not heard while the computer slept: ${death.message}.`, hint: 'Recording goes on.' };
  if (death.reason === 'too_fast')
    return { ...base, message: `${name}: ${death.message}. What is too much is left out.`, hint: TOO_FAST_HINT };
  const hint = 'It is started again until it works; the missing stretch is in `ambientctl show --coverage`.';
  return { ...base, message: `${name} stopped delivering: ${death.message}.`, hint };
}

/** A device track runs ahead of the clock, though not so far that it is restarted. */
export function surplusWarning(track: Track, info: SourceInfo, fromMs: number): NewWarning {
  return deviceWarning(track, withDevice({ reason: 'too_fast', message: 'delivers more samples than time passes' }, info), fromMs);
}

/** The death with its device in words, where the device is what is wrong. */
export function withDevice(death: SourceDeath, { device, recorder }: SourceInfo): SourceDeath {
  if (death.reason !== 'too_fast') return death;
  return { ...death, message: `${device ?? `the default device of ${recorder}`} ${death.message}` };
}

/** A file could not be played to its end. */
export function fileWarning(track: Track, death: SourceDeath): NewWarning {
  return { code: 'file_unreadable', track, message: `The file of track ${track} ended early: ${death.message}.`, hint: 'Check the file.' };
}

/** A track that was asked for could not be opened when the recording began. */
export function notStartedWarning(track: Track, error: AmbientError, joins: boolean): NewWarning {
  return {
    code: track === 'room' ? 'no_microphone' : 'no_system_audio',
    track,
    message: `${error.message}${joins ? ' It joins as soon as it works.' : ''}`,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

/** Both tracks would hold the same sound. */
export function sameSourceWarning(device: string): NewWarning {
  return {
    code: 'same_source',
    track: 'room',
    message: `The default microphone is ${device}, the monitor of the recorded output: both tracks hold the same sound.`,
    hint: 'Choose a microphone: `ambientctl devices`, then --device NAME.',
  };
}

/** Lets a warning through once per code and track in a while, so that a flapping device does not fill the session. */
export class WarningFilter {
  readonly #nowMs: () => number;
  readonly #last = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  admits(warning: NewWarning): boolean {
    const key = `${warning.code} ${warning.track ?? ''}`;
    const now = this.#nowMs();
    const last = this.#last.get(key);
    if (last !== undefined && now - last < REPEAT_MS) return false;
    this.#last.set(key, now);
    return true;
  }
}

const REPEAT_MS = 10 * 60_000;
