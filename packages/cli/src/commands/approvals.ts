import type { Approval } from '@ambient/contract';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples, group } from '../help.js';
import { table } from '../output/table.js';
import { plain } from '../output/text.js';

export function register(program: Command, context: CliContext): void {
  const approvals = examples(
    group(program, 'approvals', 'decide what an agent may do'),
    ['ambientctl approvals', 'what waits for you'],
    ['ambientctl approvals approve ID', 'let it happen'],
    ['ambientctl approvals deny ID', 'refuse it; after 60 s that is the answer anyway'],
  );
  examples(approvals.command('list', { isDefault: true }).description('calls that wait for you'), [
    'ambientctl approvals list --json',
    'an array',
  ]).action(() => list(context));
  for (const decision of ['approve', 'deny'] as const)
    examples(
      approvals
        .command(decision)
        .description(decision === 'approve' ? 'let a call go ahead' : 'refuse a call')
        .argument('<id>', 'as `approvals list` shows it'),
      [`ambientctl approvals ${decision} ID`, decision === 'approve' ? 'let it happen' : 'refuse it'],
    ).action((id: string) => decide(context, id, decision));
}

async function list(context: CliContext): Promise<void> {
  const client = await context.connect();
  const { approvals } = await client.call('approvals', {});
  context.out.result(approvals, ({ width, paint }) => {
    const pending = approvals.filter(({ state }) => state === 'pending');
    if (pending.length === 0) return 'Nothing waits for you.';
    return table(
      [{ title: 'Id' }, { title: 'Client' }, { title: 'Wants to', flexible: true }, { title: 'Seconds left', align: 'right' }],
      pending.map((approval) => [plain(approval.id), plain(approval.client), plain(approval.summary), secondsLeft(approval)]),
      width,
      paint,
    );
  });
}

function secondsLeft({ expires_at }: Approval): string {
  return String(Math.max(0, Math.round((Date.parse(expires_at) - Date.now()) / 1000)));
}

async function decide(context: CliContext, id: string, decision: 'approve' | 'deny'): Promise<void> {
  const client = await context.connect();
  const approval = await client.call('decide', { params: { id }, body: { decision } });
  context.out.result(approval, () => plain(`${approval.state === 'approved' ? 'Approved' : 'Denied'}: ${approval.summary}`));
}
