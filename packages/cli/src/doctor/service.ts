import { AmbientError, type Check, check } from '@ambient/contract';
import { gaveUp } from '../service/failed-starts.js';
import { serviceHost } from '../service/host.js';
import { serviceManager } from '../service/manager.js';
import type { ServiceState } from '../service/types.js';
import type { LocalCheck } from './types.js';

const ID = 'service';
const TITLE = 'Service';

/** The launch agent or systemd unit, when there is one. */
export const checkService: LocalCheck = async (context) => {
  const answers = await context.client.isAlive();
  if (!answers && (await gaveUp(context.paths.home)))
    return [
      check.failure(
        ID,
        TITLE,
        'The daemon failed five times in a row and stays down.',
        'See `ambientctl daemon logs` for the reason; after that `ambientctl daemon start` tries again.',
      ),
    ];
  try {
    const state = await serviceManager(serviceHost({ env: context.env })).state();
    return [describeService(state, answers)];
  } catch (error) {
    if (!(error instanceof AmbientError)) throw error;
    return [check.warning(ID, TITLE, error.message, error.hint ?? 'Run `ambientctl daemon install` again.')];
  }
};

/** @param answers a daemon answers, whoever started it */
export function describeService(state: ServiceState, answers: boolean): Check {
  const { installed, status, detail, hint, home, outdated, file } = state;
  const install = 'Run `ambientctl daemon install`.';
  if (!installed)
    return home === null
      ? check.ok(ID, TITLE, 'Not installed: the daemon starts when it is first used. `ambientctl daemon install` starts it at login.')
      : check.ok(ID, TITLE, `Not installed for this home; ${file} serves ${home}.`);
  if (status === 'failed')
    return check.failure(ID, TITLE, [detail, ...outdated].join(' '), outdated.length > 0 ? install : (hint ?? install));
  const runs = status === 'running' || status === 'starting';
  if (outdated.length > 0)
    return runs
      ? check.warning(ID, TITLE, outdated.join(' '), install)
      : check.failure(ID, TITLE, `${detail} ${outdated.join(' ')}`, install);
  if (status === 'running') return check.ok(ID, TITLE, `${detail} (${file})`);
  if (status === 'starting') return check.warning(ID, TITLE, detail, hint ?? 'Run this again in a moment.');
  if (answers)
    return check.warning(
      ID,
      TITLE,
      'A daemon answers that the service did not start: nobody starts it again after a crash.',
      'Run `ambientctl daemon restart`.',
    );
  return check.warning(ID, TITLE, detail, hint ?? 'Run `ambientctl daemon start`.');
}
