import { shimPath } from '@ambient/mcp-shim';
import type { CliContext } from '../context.js';
import { plain } from '../output/text.js';
import { describe, type GrantOptions, grantOf, withSessionIds } from './clients.js';
import { customHome } from './connect.js';
import { shell } from './hosts/host.js';

/** `ambientctl mcp token create`: the token on stdout, once; all else beside it, so that `$(…)` takes the token alone. */
export async function createToken(context: CliContext, options: GrantOptions & { readonly name: string }): Promise<void> {
  const client = await context.connect();
  const made = await client.call('mcpCreate', { body: { name: options.name, ...grantOf(await withSessionIds(client, options)) } });
  context.out.result(made, () => made.token);
  const home = customHome(context);
  const variables = [...(home === undefined ? [] : [`AMBIENT_HOME=${shell([home])}`]), 'AMBIENT_MCP_TOKEN=…'].join(' ');
  context.out.note(
    [
      describe(made.client),
      'This token is shown once. Give it to the host as the environment variable AMBIENT_MCP_TOKEN, never on a command line:',
      `  ${variables} ${shell([process.execPath, shimPath()])}`,
      `It expires when unused for 90 days; \`ambientctl mcp revoke ${made.client.id}\` ends it at once.`,
    ]
      .map(plain)
      .join('\n'),
  );
}
