import { AmbientError, SAMPLE_RATE } from '@ambient/contract';
import { deferred } from '../capture/deferred.js';
import { FLOOR_DB, LevelMeter } from '../capture/level-meter.js';
import type { CaptureSource } from '../capture/source.js';

/** What half a second of a source held. */
export interface TestCapture {
  readonly recorder: string | null;
  readonly device: string | null;
  /** Highest sample, dBFS; -120 when every sample is zero. */
  readonly peakDb: number;
}

const ENOUGH_SAMPLES = SAMPLE_RATE / 2;
/** A device that wakes up begins with zeros: only so many of them count as silence, samples. */
const SILENT_SAMPLES = SAMPLE_RATE * 1.5;
/** A source that began and then gives too little is broken, ms. */
const LIMIT_MS = 4000;

export function isSilent({ peakDb }: TestCapture): boolean {
  return peakDb <= FLOOR_DB;
}

/**
 * Opens a source, listens for half a second and closes it again. Keeps nothing of what it hears.
 * @throws AmbientError of the source, or `no_source` when it stops delivering
 */
export async function testCapture(source: CaptureSource): Promise<TestCapture> {
  const meter = new LevelMeter();
  const enough = deferred();
  enough.promise.catch(() => {});
  let samples = 0;
  let peakDb = FLOOR_DB;
  let timer: NodeJS.Timeout | undefined;
  try {
    const { recorder, device } = await source.start({
      samples: (pcm) => {
        samples += pcm.length >> 1;
        meter.add(pcm);
        peakDb = Math.max(peakDb, meter.read().peak_db);
        if (samples >= (peakDb > FLOOR_DB ? ENOUGH_SAMPLES : SILENT_SAMPLES)) enough.resolve();
      },
      died: ({ message }) => enough.reject(gone(message)),
      ended: () => enough.resolve(),
      ready: () => Promise.resolve(),
    });
    timer = setTimeout(() => enough.reject(gone('it began and then gave nothing more')), LIMIT_MS);
    await enough.promise;
    return { recorder, device, peakDb };
  } finally {
    clearTimeout(timer);
    await source.stop();
  }
}

function gone(message: string): AmbientError {
  return new AmbientError('no_source', `It stopped delivering: ${message}.`, 'See `ambientctl devices`, and try another one.');
}
