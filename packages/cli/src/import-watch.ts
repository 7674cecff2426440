import { setTimeout as sleep } from 'node:timers/promises';
import type { AmbientClient } from '@ambient/client';
import { AmbientError, type ImportStatus } from '@ambient/contract';

/** How long a daemon that went away is waited for, ms. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 250;

interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onChange: (imports: readonly ImportStatus[]) => void;
}

/**
 * Waits until each import is done or has failed, or `signal` aborts. A daemon that restarts in between takes its imports
 * up again as sessions, and is asked for those.
 * @returns their last known state, in the order given
 * @throws AmbientError `unavailable` when the daemon goes away for good
 */
export async function watchImports(
  client: AmbientClient,
  imports: readonly ImportStatus[],
  { signal, onChange }: WatchOptions,
): Promise<readonly ImportStatus[]> {
  const known = new Map(imports.map((item) => [item.id, item]));
  const current = (): readonly ImportStatus[] => imports.map((item) => known.get(item.id) ?? item);
  const learn = (item: ImportStatus): void => {
    if (known.has(item.id)) known.set(item.id, item);
  };
  let lost: number | undefined;
  while (!signal.aborted && !current().every(isOver)) {
    try {
      for await (const event of client.events({ signal })) {
        if (event.type === 'status') {
          lost = undefined;
          // Subscribed: what happened before is read now, what happens from here on is an event.
          for (const item of await refresh(client, current())) learn(item);
        } else if (event.type === 'import') learn(event.import);
        else continue;
        onChange(current());
        if (current().every(isOver)) return current();
      }
    } catch (error) {
      if (!(error instanceof AmbientError) || error.code !== 'unavailable') throw error;
      if (lost !== undefined && performance.now() - lost > PATIENCE_MS) throw error;
    }
    lost ??= performance.now();
    if (!signal.aborted) await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return current();
}

function isOver({ state }: ImportStatus): boolean {
  return state === 'done' || state === 'failed';
}

async function refresh(client: AmbientClient, items: readonly ImportStatus[]): Promise<ImportStatus[]> {
  const { imports } = await client.call('imports', {});
  const open = items.filter((item) => !isOver(item));
  return Promise.all(open.map(async (item) => imports.find(({ id }) => id === item.id) ?? (await fromSession(client, item))));
}

/** State of an import that this daemon does not know as one: an earlier daemon began it. */
async function fromSession(client: AmbientClient, item: ImportStatus): Promise<ImportStatus> {
  try {
    const { summary } = await client.call('session', { params: { session: item.id } });
    if (summary.state === 'done' || summary.state === 'interrupted') return { ...item, state: 'done', progress: 1 };
    if (summary.state === 'broken') return { ...item, state: 'failed', error: summary.error };
    return { ...item, state: 'transcribing' };
  } catch (error) {
    if (error instanceof AmbientError && error.code === 'not_found')
      return { ...item, state: 'failed', error: 'The daemon ended before the file was decoded; import it again.' };
    throw error;
  }
}
