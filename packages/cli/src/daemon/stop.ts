import { setTimeout as sleep } from 'node:timers/promises';
import type { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';
import { isRunning } from './process.js';

/** A recording is finished and made safe first; the daemon itself promises 10 s. */
const STOP_PATIENCE_MS = 20_000;
const POLL_MS = 50;

/**
 * Asks the daemon to end and waits until it is gone.
 * @returns its pid, or null when none was running
 * @throws AmbientError `timeout`
 */
export async function stopDaemon(client: AmbientClient): Promise<number | null> {
  if (!(await client.isAlive())) return null;
  const { pid } = await client.call('shutdown', {});
  const deadline = performance.now() + STOP_PATIENCE_MS;
  while (performance.now() < deadline) {
    if (!isRunning(pid)) return pid;
    await sleep(POLL_MS);
  }
  throw new AmbientError(
    'timeout',
    `The daemon (pid ${pid}) has not ended after ${STOP_PATIENCE_MS / 1000} s.`,
    'It is finishing what it does; `ambientctl daemon logs` shows what. `ambientctl daemon status` says when it is gone.',
  );
}
