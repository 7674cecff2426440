import path from 'node:path';
import { parseArgs } from 'node:util';
import { AmbientError } from '@ambient/contract';
import type { Theme } from './theme.js';

export const USAGE = `Usage: ambient-tray [options]

Shows what Ambient does in the system tray.

  --theme light|dark  icons for a light or a dark panel (default: what the desktop says)
  --ambientctl FILE   script of ambientctl, to start the daemon from the menu
  --swiftbar          print the menu once, as a plugin of SwiftBar or xbar, and exit
  --version           print the version
  --help              show this`;

export interface TrayOptions {
  readonly theme: Theme | null;
  /** Absolute path, or null. */
  readonly ambientctl: string | null;
  readonly swiftbar: boolean;
  readonly version: boolean;
  readonly help: boolean;
}

/** @throws AmbientError `bad_request` for a wrong command line */
export function parseTrayOptions(args: readonly string[]): TrayOptions {
  const wrong = (message: string): AmbientError => new AmbientError('bad_request', message, 'See `ambient-tray --help`.');
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        theme: { type: 'string' },
        ambientctl: { type: 'string' },
        swiftbar: { type: 'boolean', default: false },
        version: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { theme, ambientctl, swiftbar, version, help } = values;
    if (theme !== undefined && theme !== 'light' && theme !== 'dark') throw wrong(`--theme is light or dark, not ${theme}.`);
    return { theme: theme ?? null, ambientctl: ambientctl === undefined ? null : path.resolve(ambientctl), swiftbar, version, help };
  } catch (error) {
    if (error instanceof AmbientError) throw error;
    throw wrong((error as Error).message);
  }
}
