import type { RecorderOptions } from '../../recorder-process.js';
import type { SystemProbe } from './probe.js';

/** The recorders to try for system audio, best first. */
export function systemBackends(probe: SystemProbe): readonly RecorderOptions[] {
  return [{ name: probe.recorder, program: probe.program, device: probe.monitor }];
}
