import type { SourceDeath } from './source.js';

/** What parec says on stderr when it is verbose, of the source it records from. */
const DEVICE_LINE = /^(?:Connected to|Stream moved to) device (\S+)/;

/**
 * A sound server moves the stream of a vanished device to its default source. For the call that is a microphone, for a
 * named microphone it is another one: neither may be recorded.
 * @param wanted the only source that may be recorded; null when any may
 * @returns why the recorder must stop, or null
 */
export function judgeMove(line: string, wanted: string | null): SourceDeath | null {
  const device = DEVICE_LINE.exec(line)?.[1];
  if (device === undefined || wanted === null || device === wanted) return null;
  return { reason: 'device_lost', message: `${wanted} is gone, the sound server went on with ${device}` };
}
