import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute paths of the programs that an autostart entry names. */
export interface TrayPrograms {
  readonly node: string;
  readonly tray: string;
  readonly ambientctl: string;
}

export function trayPrograms(node: string): TrayPrograms {
  const manifest = createRequire(import.meta.url).resolve('@ambient/tray/package.json');
  return {
    node,
    tray: realpathSync(path.join(path.dirname(manifest), 'bin/ambient-tray.js')),
    ambientctl: realpathSync(fileURLToPath(new URL('../../../bin/ambientctl.js', import.meta.url))),
  };
}
