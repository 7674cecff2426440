import { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';

/** What a service manager needs to know of the daemon that holds the home, whoever started it. */
export interface RunningDaemon {
  /** Null when no daemon answers. */
  look(): Promise<{ readonly pid: number; readonly recording: string | null } | null>;
  /** Waits until a daemon answers. @returns false when none does within `timeoutMs` */
  answers(timeoutMs: number): Promise<boolean>;
  /** Asks it to stop and waits until its socket is gone. @throws AmbientError `timeout` */
  stop(): Promise<void>;
}

/** A recording is finished first, which ends within 10 s. */
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 100;

export function runningDaemon(controlSocket: string): RunningDaemon {
  const client = new AmbientClient(controlSocket);
  return {
    async look() {
      try {
        const status = await client.call('status', {}, { timeoutMs: 3_000 });
        return { pid: status.pid, recording: status.live?.id ?? null };
      } catch (error) {
        if (error instanceof AmbientError && error.code === 'unavailable') return null;
        throw error;
      }
    },
    async answers(timeoutMs) {
      for (let waited = 0; waited < timeoutMs; waited += POLL_MS) {
        if (await client.isAlive()) return true;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      return false;
    },
    async stop() {
      try {
        await client.call('shutdown', {}, { timeoutMs: STOP_TIMEOUT_MS });
      } catch (error) {
        // It may go away before it has answered.
        if (!(error instanceof AmbientError && error.code === 'unavailable')) throw error;
      }
      for (let waited = 0; waited < STOP_TIMEOUT_MS; waited += POLL_MS) {
        if (!(await client.isAlive())) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new AmbientError('timeout', 'The running daemon does not end.', 'See `ambientctl daemon logs`.');
    },
  };
}
