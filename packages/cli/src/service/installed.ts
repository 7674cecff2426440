import type { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';
import { serviceHost } from './host.js';
import { serviceManager } from './manager.js';
import type { ServiceManager } from './types.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The service of the home that `env` names, when it is installed; undefined otherwise, and where there are no services. */
export async function installedService(env: Env): Promise<ServiceManager | undefined> {
  let service: ServiceManager;
  try {
    service = serviceManager(serviceHost({ env }));
  } catch (error) {
    if (error instanceof AmbientError) return undefined;
    throw error;
  }
  return (await service.installed()) ? service : undefined;
}

/**
 * Stops the daemon through its service when that is what runs it.
 * @returns its pid, or undefined when the service does not run it
 */
export async function stopInstalledService(env: Env, client: AmbientClient): Promise<number | undefined> {
  const service = await installedService(env);
  if (service === undefined) return undefined;
  const state = await service.state();
  if (state.status !== 'running' && state.status !== 'starting') return undefined;
  const running = await client.call('status', {}).catch(() => undefined);
  await service.stop();
  return running?.pid ?? state.pid ?? undefined;
}
