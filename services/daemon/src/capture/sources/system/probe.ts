import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import { findProgram } from '../../programs.js';
import { type PulseSource, pulseDefaults, pulseSinks, pulseSources } from '../../pulse.js';
import { UnsupportedSourceError } from '../../source.js';

export interface SystemRequest {
  /** Sink whose output to record, or its monitor; null follows the default sink. */
  readonly device: string | null;
}

/** What this machine has to record its own output with. */
export interface SystemProbe {
  readonly recorder: 'parec' | 'audiotee';
  readonly program: string;
  /** The monitor to record; null where the whole system's output is taken. */
  readonly monitor: string | null;
}

/** Darwin 23.2 is macOS 14.2, the first with process taps. */
const FIRST_DARWIN = [23, 2] as const;

/**
 * Finds what plays and how to record it. Only ever answers a monitor, never a microphone.
 * @throws AmbientError `missing_tool`, `no_source`
 */
export async function probeSystem(request: SystemRequest, platform: NodeJS.Platform): Promise<SystemProbe> {
  return platform === 'darwin' ? probeMac() : probePulse(request);
}

/**
 * Name of the monitor that should be recorded now, or null when there is none.
 * @param current what is recorded: most often the answer, and then one question to the server is enough
 */
export async function wantedMonitor(request: SystemRequest, current: string): Promise<string | null> {
  const sink = request.device ?? (await pulseDefaults())?.sink ?? null;
  if (current === `${sink}.monitor`) return current;
  return sink === null ? null : (monitorOf(sink, await pulseSources())?.name ?? null);
}

async function probePulse(request: SystemRequest): Promise<SystemProbe> {
  const program = await findProgram('parec');
  if (program === null || (await findProgram('pactl')) === null)
    throw new AmbientError(
      'missing_tool',
      'System audio needs parec and pactl, which are not installed.',
      'sudo apt install pulseaudio-utils',
    );
  const defaults = await pulseDefaults();
  if (defaults === null)
    throw new UnsupportedSourceError(
      'no_source',
      'No sound server answers, so system audio cannot be recorded.',
      'Start PulseAudio or PipeWire (`systemctl --user start pipewire-pulse`), or record the microphone alone with --no-system.',
    );
  const sink = request.device ?? defaults.sink;
  const monitor = sink === null ? null : monitorOf(sink, await pulseSources());
  if (sink === null)
    throw new AmbientError('no_source', 'There is no default output to record.', 'Choose one: pactl set-default-sink NAME');
  if (monitor === null) {
    const names = (await pulseSinks()).map((s) => s.name).join(', ');
    throw new AmbientError(
      'no_source',
      `${sink} is not an output that can be recorded.`,
      names === '' ? 'The sound server has no output.' : `Set audio.system_device to one of: ${names}`,
    );
  }
  return { recorder: 'parec', program, monitor: monitor.name };
}

/** The source that repeats `sink`; `sink` may name that source itself. A true input is never an answer. */
function monitorOf(sink: string, sources: readonly PulseSource[]): PulseSource | null {
  return sources.find((source) => source.monitorOf !== null && (source.monitorOf === sink || source.name === sink)) ?? null;
}

function probeMac(): SystemProbe {
  const [major = 0, minor = 0] = os.release().split('.').map(Number);
  if (major < FIRST_DARWIN[0] || (major === FIRST_DARWIN[0] && minor < FIRST_DARWIN[1]))
    throw new UnsupportedSourceError(
      'no_source',
      'System audio needs macOS 14.2 or later.',
      'Record the microphone alone with --no-system.',
    );
  // The package's own entry stands beside the program that it ships.
  const entry = createRequire(import.meta.url).resolve('audiotee');
  return { recorder: 'audiotee', program: path.join(path.dirname(entry), '..', 'bin', 'audiotee'), monitor: null };
}
