import { AmbientError } from '@ambient/contract';
import { runner } from './exec.js';
import { type ServiceHost, serviceHost } from './host.js';
import { LaunchdManager } from './launchd/manager.js';
import { runningDaemon } from './running-daemon.js';
import { SystemdManager } from './systemd/manager.js';
import type { ServiceManager } from './types.js';

/**
 * The service manager of this platform, for the home that the environment names.
 * @throws AmbientError `unavailable` on a platform without one
 */
export function serviceManager(host: ServiceHost = serviceHost()): ServiceManager {
  const run = runner({ ...host.env });
  const daemon = runningDaemon(host.paths.controlSocket);
  if (host.platform === 'darwin') return new LaunchdManager(host, run, daemon);
  if (host.platform === 'linux') return new SystemdManager(host, run, daemon);
  throw new AmbientError('unavailable', `There is no service manager for ${host.platform}.`, 'Run `ambientctl daemon start` by hand.');
}
