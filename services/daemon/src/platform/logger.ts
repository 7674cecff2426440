import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import pino from 'pino';
import roll from 'pino-roll';

export type Logger = pino.Logger;

/** Size at which the log starts a new file, and how many old ones are kept. */
export const LOG_SIZE = '5m';
export const LOG_FILES_KEPT = 4;
/** What a full disk does not take waits up to this much, in characters; beyond it, lines are dropped. */
const WAITING_LIMIT = 1024 * 1024;

/**
 * JSON lines to `<dir>/ambientd.N.log`, rotated by size. Transcript text, tokens and file contents never go in:
 * those keys are removed should anyone pass them. The working directory must stay what it is from here on.
 */
export async function openLogger(dir: string, level: string): Promise<Logger> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const stream = await roll({
    // pino-roll refuses names with any of " * ? < > | :, which a home may have above it. Daemon.start works from inside the home.
    file: path.relative(process.cwd(), path.join(dir, 'ambientd')),
    extension: '.log',
    size: LOG_SIZE,
    limit: { count: LOG_FILES_KEPT },
    mkdir: false,
    maxLength: WAITING_LIMIT,
  });
  // Without a listener the error would be thrown, logged, fail again, and so on. The next line tries again.
  stream.on('error', () => undefined);
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: ['text', '*.text', 'token', '*.token', 'lines', '*.lines'], remove: true },
    },
    stream,
  );
}

/** A logger that writes nothing, for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
