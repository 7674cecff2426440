import type { McpClient } from '@ambient/contract';
import { removeCredential } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { table } from '../output/table.js';
import { plain } from '../output/text.js';
import { localMinute } from '../output/time.js';
import { describe, findClient, type GrantOptions, grantOf, scopeInWords, stateOf, withSessionIds } from './clients.js';

export async function status(context: CliContext): Promise<void> {
  const client = await context.connect();
  const { enabled, socket, clients } = await client.call('mcp', {});
  const active = clients.filter((known) => stateOf(known) === 'active');
  const off = clients.filter((known) => stateOf(known) === 'disabled');
  const connections = clients.reduce((sum, known) => sum + known.connections, 0);
  context.out.result({ enabled, socket, clients: active.length, connections }, () =>
    (enabled
      ? [
          `MCP access is on: ${count(active.length, 'client')} may connect, ${count(connections, 'connection')} open.`,
          ...(off.length === 0 ? [] : [`Switched off: ${off.map(({ name }) => name).join(', ')}.`]),
          socket === null
            ? 'Its socket is not there, so nothing can connect: `ambientctl mcp enable` makes it again.'
            : `Socket: ${socket}`,
          ...(active.length === 0 ? ['Connect a host with `ambientctl mcp connect HOST`.'] : []),
        ]
      : ['MCP access is off: there is no socket, and nothing can connect.', 'Turn it on with `ambientctl mcp enable`.']
    )
      .map(plain)
      .join('\n'),
  );
}

export async function enable(context: CliContext): Promise<void> {
  const client = await context.connect();
  const reply = await client.call('mcpEnable', { body: {} });
  context.out.result(reply, () => plain(`MCP access is on. Only clients from \`ambientctl mcp list\` get in, each with its own limits.`));
}

export async function disable(context: CliContext): Promise<void> {
  const client = await context.connect();
  const reply = await client.call('mcpDisable', { body: {} });
  context.out.result(reply, () => 'MCP access is off: every client has been disconnected and the socket is gone.');
}

export async function list(context: CliContext, options: { readonly all?: boolean }): Promise<void> {
  const client = await context.connect();
  const { clients } = await client.call('mcp', {});
  const shown = options.all === true ? clients : clients.filter(({ revoked_at }) => revoked_at === null);
  context.out.result(shown, ({ width, paint }) => {
    if (shown.length === 0) return 'No clients. Make one with `ambientctl mcp connect HOST` or `ambientctl mcp token create --name N`.';
    return table(
      [
        { title: 'Id' },
        { title: 'Name', flexible: true },
        { title: 'Access' },
        { title: 'Tools', flexible: true },
        { title: 'Sees', flexible: true },
        { title: 'Used' },
        { title: 'Open', align: 'right' },
      ],
      shown.map((known) => [
        plain(known.id),
        plain(known.name),
        stateOf(known) === 'active' ? known.access : stateOf(known),
        known.toolsets.join(', '),
        plain(scopeInWords(known.scope)),
        known.last_used_at === null ? 'never' : localMinute(known.last_used_at),
        String(known.connections),
      ]),
      width,
      paint,
    );
  });
}

export async function set(context: CliContext, word: string, options: GrantOptions & { readonly name?: string }): Promise<void> {
  const client = await context.connect();
  const { clients } = await client.call('mcp', {});
  const known = findClient(clients, word);
  const body = {
    ...grantOf(await withSessionIds(client, options), known.scope),
    ...(options.name === undefined ? {} : { name: options.name }),
  };
  if (Object.keys(body).length === 0)
    throw new UsageError('Nothing to change was given.', 'Give --access, --toolset, --tag, --since, --session, --all-sessions or --name.');
  const changed = await client.call('mcpSet', { params: { id: known.id }, body });
  context.out.result(changed, () => describe(changed));
}

export async function revoke(context: CliContext, words: readonly string[]): Promise<void> {
  const client = await context.connect();
  const { clients } = await client.call('mcp', {});
  // All names are looked up before the first revocation: a mistyped one changes nothing.
  const ids = [...new Set(words.map((word) => findClient(clients, word).id))];
  const revoked: McpClient[] = [];
  for (const id of ids) revoked.push(await client.call('mcpRevoke', { params: { id } }));
  for (const id of ids) await removeCredential(context.paths, id);
  context.out.result(revoked, () => revoked.map(({ name, id }) => plain(`Revoked: ${name} (${id}). Its connections are cut.`)).join('\n'));
}

export async function audit(context: CliContext, options: { readonly limit: number }): Promise<void> {
  const client = await context.connect();
  const { entries } = await client.call('mcpAudit', { query: { limit: options.limit } });
  context.out.result(entries, ({ width, paint }) => {
    if (entries.length === 0) return 'No client has changed anything.';
    const rows = entries.map(({ at, tool, outcome, operation }) => [plain(localMinute(at)), plain(tool), outcome, plain(operation)]);
    return table([{ title: 'Time' }, { title: 'Tool' }, { title: 'Outcome' }, { title: 'Operation', flexible: true }], rows, width, paint);
  });
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
