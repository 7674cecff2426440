import type { RecorderOptions } from '../../recorder-process.js';
import type { SystemProbe } from './probe.js';

/** The recorders to try for system audio, best first. */
export function systemBackends(probe: SystemProbe): readonly RecorderOptions[] {
  return [{ name: probe.recorder, program: probe.program, device: probe.monitor }];
}

const DEVICE_LINE = /^(?:Connected to|Stream moved to) device (\S+)/;

/** The source that parec says it records from now, or null when the line says nothing of it. */
export function parecDevice(line: string): string | null {
  return DEVICE_LINE.exec(line)?.[1] ?? null;
}
