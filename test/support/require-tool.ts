import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/**
 * True when every program is on PATH, for `describe.skipIf(!requireTools(['sox']))`.
 * @throws Error in continuous integration (`CI=true`), where a missing program must fail and not skip
 */
export function requireTools(tools: readonly string[]): boolean {
  const missing = tools.filter((tool) => !isOnPath(tool));
  if (missing.length === 0) return true;
  if (process.env.CI === 'true')
    throw new Error(
      `These tests need ${missing.join(', ')}. Run \`node tools/bootstrap.mjs --system\` as root on Debian, or install them.`,
    );
  return false;
}

function isOnPath(tool: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((dir) => {
    const file = path.join(dir, tool);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
