import type { RecorderOptions } from '../../recorder-process.js';
import type { MicProbe, MicRequest } from './probe.js';

/**
 * The recorders to try for a microphone, best first.
 * @param worked the program that gave samples last time: it is tried first, since one that hangs costs seconds
 */
export function micBackends(request: MicRequest, probe: MicProbe, worked: string | null): readonly RecorderOptions[] {
  const programs = probe.programs.toSorted((a, b) => Number(b.name === worked) - Number(a.name === worked));
  return programs.flatMap(({ name, path }): RecorderOptions[] => {
    const base = { name, program: path, device: request.device };
    const viaPulse = probe.pulseSource !== null;
    // Asked for a source that it does not have, PipeWire gives another one.
    if (name === 'parec') return request.device === null || viaPulse ? [base] : [];
    if (name === 'arecord') return [viaPulse ? throughPulse(base) : base];
    if (request.device === null) return [base];
    if (probe.platform === 'darwin') return [{ ...base, driver: 'coreaudio' }];
    // Debian's sox has no PulseAudio driver unless libsox-fmt-pulse is there; ALSA's plugin reaches the same source.
    return viaPulse
      ? [
          { ...base, driver: 'pulseaudio' },
          { ...throughPulse(base), driver: 'alsa' },
        ]
      : [{ ...base, driver: 'alsa' }];
  });
}

/** Records a sound server's source by ALSA's `pulse` device, whose source is named by the environment. */
function throughPulse(base: RecorderOptions): RecorderOptions {
  return { ...base, device: 'pulse', env: { ...process.env, PULSE_SOURCE: base.device ?? '' } };
}
