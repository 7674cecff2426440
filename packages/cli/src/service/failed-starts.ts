import path from 'node:path';
import { readText, removeFile } from './files.js';

/** As many as the daemon's own start guard allows (services/daemon/src/platform/start-guard.ts). */
const MAX_FAILED_STARTS = 5;

function startsFile(home: string): string {
  return path.join(home, 'service-starts.json');
}

/** True when the daemon stays down under launchd because it failed five times in a row. */
export async function gaveUp(home: string): Promise<boolean> {
  try {
    const value: unknown = JSON.parse((await readText(startsFile(home))) ?? 'null');
    return (
      typeof value === 'object' &&
      value !== null &&
      'starts' in value &&
      Array.isArray(value.starts) &&
      value.starts.length >= MAX_FAILED_STARTS
    );
  } catch {
    return false;
  }
}

/** A person who starts the daemon by hand gives it five new tries. */
export async function forgetFailedStarts(home: string): Promise<void> {
  await removeFile(startsFile(home));
}
