import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { check } from '@ambient/contract';
import { setting } from './settings.js';
import type { LocalCheck } from './types.js';

const ID = 'disk';
const TITLE = 'Disk';
const MIB = 1024 * 1024;

/** Free space where the home lies, or will lie. */
export const checkDisk: LocalCheck = async (context) => {
  const free = await freeMiB(context.paths.home);
  const stop = await setting(context, 'disk.stop_mb');
  const detail = `${free} MiB free in ${context.paths.home}.`;
  const fix = 'Free some space, or shorten `audio_retention_days`.';
  if (free < stop) return [check.failure(ID, TITLE, `${detail} Nothing is recorded below ${stop} MiB (\`disk.stop_mb\`).`, fix)];
  if (free < (await setting(context, 'disk.low_mb'))) return [check.warning(ID, TITLE, detail, fix)];
  return [check.ok(ID, TITLE, detail)];
};

async function freeMiB(dir: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(dir);
    return Math.floor((bavail * bsize) / MIB);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dir === path.dirname(dir)) throw error;
    return freeMiB(path.dirname(dir));
  }
}
