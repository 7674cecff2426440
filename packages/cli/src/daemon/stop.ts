import { setTimeout as sleep } from 'node:timers/promises';
import type { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';
import { holderOf } from './holder.js';
import { isRunning } from './process.js';

/** A recording is finished and made safe first; the daemon itself promises 10 s. */
const STOP_PATIENCE_MS = 20_000;
/** A daemon that does not answer may be starting, or ending, which takes it up to 10 s; or it makes its lost socket again, ms. */
const SILENT_PATIENCE_MS = 12_000;
const POLL_MS = 50;

interface StopOptions {
  readonly client: AmbientClient;
  readonly home: string;
  /** Told what is happening when the daemon runs and does not answer. */
  readonly note: (text: string) => void;
  /** How long such a daemon is waited for before it is sent SIGTERM, ms. */
  readonly silentPatienceMs?: number;
}

/**
 * Asks the daemon to end and waits until it is gone. One that holds the home and cannot be asked is sent SIGTERM, which it
 * takes as the same wish.
 * @returns its pid, or null when none was running
 * @throws AmbientError `timeout`
 */
export async function stopDaemon({ client, home, note, silentPatienceMs = SILENT_PATIENCE_MS }: StopOptions): Promise<number | null> {
  if (await client.isAlive()) return ask(client);
  const pid = await holderOf(home);
  if (pid === undefined) return null;
  note(`The daemon (pid ${pid}) runs and does not answer: it is starting or ending, or its socket was removed. Waiting for it…`);
  // A second signal would cut short what an ending daemon still writes.
  for (let waited = 0; waited < silentPatienceMs && isRunning(pid); waited += POLL_MS) {
    if (await client.isAlive()) return ask(client);
    await sleep(POLL_MS);
  }
  if (!isRunning(pid) || (await holderOf(home)) !== pid) return pid;
  note('It is told to end by a signal.');
  process.kill(pid, 'SIGTERM');
  return gone(pid);
}

async function ask(client: AmbientClient): Promise<number> {
  const { pid } = await client.call('shutdown', {});
  return gone(pid);
}

async function gone(pid: number): Promise<number> {
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
