import { AmbientError } from '@ambient/contract';
import { APPROVAL_MS } from './approvals.js';
import { noSession } from './scoped-sessions.js';
import type { ToolCall } from './tools/tool.js';
import { whileTelling } from './waiting.js';

/**
 * Returns when the call may go ahead: at once for a trusted client, otherwise when the user has approved.
 * @throws AmbientError `forbidden` when the user said no, said nothing, or the caller has gone; `not_found` when the session has
 */
export async function requireApproval(call: ToolCall, tool: string, session: string, summary: string): Promise<void> {
  const { client, services, signal } = call;
  if (client.access === 'trusted') return;
  const decision = await whileTelling(call, APPROVAL_MS, 'Waiting for the user to approve', () =>
    services.approvals.ask({ clientId: client.id, client: client.name, tool, summary, session }, signal),
  );
  if (decision === 'approved') return;
  if (decision === 'gone') throw noSession(session);
  if (decision === 'off')
    throw new AmbientError('forbidden', 'Access was switched off before the user decided, so this counts as denied. Nothing was deleted.');
  throw new AmbientError(
    'forbidden',
    decision === 'expired'
      ? 'The user did not approve this within a minute, so it counts as denied. Nothing was deleted.'
      : 'The user denied this. Nothing was deleted; do not ask again unless the user wants it.',
  );
}
