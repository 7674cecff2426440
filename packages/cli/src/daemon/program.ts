import { createRequire } from 'node:module';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

/** A command line that runs the daemon in the foreground. */
export interface DaemonProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The daemon installed beside this program, run by the same Node.
 * @throws AmbientError `missing_tool`
 */
export function installedDaemon(): DaemonProgram {
  let manifest: string;
  try {
    manifest = createRequire(import.meta.url).resolve('@ambient/daemon/package.json');
  } catch (cause) {
    throw new AmbientError('missing_tool', 'The daemon is not installed.', 'Install Ambient again.', { cause });
  }
  return { command: process.execPath, args: [path.join(path.dirname(manifest), 'bin/ambientd.js'), 'run'] };
}
