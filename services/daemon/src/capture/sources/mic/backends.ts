import type { RecorderOptions } from '../../recorder-process.js';
import type { MicProbe, MicRequest } from './probe.js';

/** The recorders to try for a microphone, best first. */
export function micBackends(request: MicRequest, probe: MicProbe): readonly RecorderOptions[] {
  return probe.programs.flatMap(({ name, path }): RecorderOptions[] => {
    const base = { name, program: path, device: request.device };
    if (name === 'parec') return [base];
    const viaPulse = probe.pulseSource !== null;
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
