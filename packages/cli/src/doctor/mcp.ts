import { type Check, check } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { stateOf } from '../mcp/clients.js';
import type { DaemonView } from './daemon.js';

const ID = 'mcp';
const TITLE = 'MCP access';

/** Whether AI hosts can connect, and which of them no longer can. */
export async function checkMcp({ paths }: CliContext, { mcp }: DaemonView): Promise<Check[]> {
  if (mcp === undefined) return [];
  const { enabled, socket, clients } = mcp;
  const active = clients.filter((client) => stateOf(client) === 'active');
  const expired = clients.filter((client) => stateOf(client) === 'expired');
  return [
    enabled && socket === null
      ? check.failure(
          ID,
          TITLE,
          `It is on, and ${paths.mcpSocket} is not there, so nothing can connect.`,
          'Run `ambientctl mcp enable`, which makes it again or says why it cannot.',
        )
      : !enabled && active.length > 0
        ? check.warning(
            ID,
            TITLE,
            `It is off, and ${active.map(({ name }) => name).join(', ')} may connect when it is on.`,
            'Turn it on with `ambientctl mcp enable`, or end their access with `ambientctl mcp revoke NAME`.',
          )
        : check.ok(ID, TITLE, enabled ? `On; ${active.length} may connect.` : 'Off: nothing can connect.'),
    ...(expired.length === 0
      ? []
      : [
          check.warning(
            'mcp.expired',
            'Expired MCP clients',
            `Not used for 90 days, and no longer let in: ${expired.map(({ name, id }) => `${name} (${id})`).join(', ')}.`,
            `Connect again with \`ambientctl mcp connect HOST\`, or forget them: \`ambientctl mcp revoke ${expired.map(({ id }) => id).join(' ')}\`.`,
          ),
        ]),
  ];
}
