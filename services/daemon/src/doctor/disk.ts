import { stat } from 'node:fs/promises';
import { type Check, check, type HomePaths } from '@ambient/contract';
import { freeMiB } from '../capture/disk-watch.js';
import type { ConfigStore } from '../config/config-store.js';

const ID = 'disk';
const TITLE = 'Disk';

/** Free space where the home lies, and where the sessions lie when that is another file system. */
export async function diskCheck(paths: HomePaths, config: ConfigStore): Promise<Check> {
  const [home, sessions] = await Promise.all([stat(paths.home), stat(paths.sessions)]);
  const places = home.dev === sessions.dev ? [paths.home] : [paths.home, paths.sessions];
  const free = await Promise.all(places.map(async (dir) => ({ dir, mib: Math.floor(await freeMiB(dir)) })));
  const least = free.reduce((a, b) => (b.mib < a.mib ? b : a));
  const fix = 'Free some space, or shorten `audio_retention_days`.';
  const detail = `${least.mib} MiB free in ${least.dir}.`;
  const { low, stop } = { low: config.get('disk.low_mb'), stop: config.get('disk.stop_mb') };
  if (least.mib < stop) return check.failure(ID, TITLE, `${detail} Nothing is recorded below ${stop} MiB (\`disk.stop_mb\`).`, fix);
  if (least.mib < low)
    return check.warning(ID, TITLE, `${detail} That is less than ${low} MiB (\`disk.low_mb\`); below ${stop} MiB recording stops.`, fix);
  return check.ok(ID, TITLE, detail);
}
