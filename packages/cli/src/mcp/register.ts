import { type Command, Option } from 'commander';
import { nonBlank, wholeNumber } from '../args/values.js';
import type { CliContext } from '../context.js';
import { examples, group } from '../help.js';
import { type GrantOptions, grantOptions } from './clients.js';
import { type ConnectOptions, connect } from './connect.js';
import { disconnect } from './disconnect.js';
import { HOSTS } from './hosts/index.js';
import { audit, disable, enable, list, revoke, set, status } from './manage.js';
import { createToken } from './token.js';

const HOST_HELP = HOSTS.map(({ id }) => id).join(', ');
const CLIENT_HELP = 'id, unique prefix, name or host';

/** `ambientctl mcp …`: which AI hosts may connect, and what each may see and do. */
export function register(program: Command, context: CliContext): void {
  const mcp = examples(
    group(program, 'mcp', 'let AI hosts read sessions, each with its own limits'),
    ['ambientctl mcp enable', 'open the socket'],
    ['ambientctl mcp connect claude-code', 'give one host access'],
    ['ambientctl mcp list', 'who has access'],
  );
  examples(mcp.command('status', { isDefault: true }).description('is MCP access on, and who is connected'), [
    'ambientctl mcp status --json',
    'one object',
  ]).action(() => status(context));
  examples(mcp.command('enable').description('let known clients connect'), ['ambientctl mcp enable', 'stays on until disabled']).action(
    () => enable(context),
  );
  examples(mcp.command('disable').description('disconnect every client and remove the socket'), [
    'ambientctl mcp disable',
    'at once',
  ]).action(() => disable(context));
  registerConnect(mcp, context);
  registerClients(mcp, context);
  examples(
    mcp
      .command('audit')
      .description('what clients have changed')
      .addOption(new Option('--limit <n>', 'newest entries only').argParser(wholeNumber(1, 10_000)).default(100)),
    ['ambientctl mcp audit --limit 20', 'newest last'],
  ).action((options: { limit: number }) => audit(context, options));
}

function registerConnect(mcp: Command, context: CliContext): void {
  examples(
    grantOptions(
      mcp
        .command('connect')
        .description("make a profile for a host and add it to that host's configuration; limits that are not given stay as they were")
        .argument('<host>', HOST_HELP),
    )
      .option('--all-sessions', 'lift every limit on sessions first')
      .option('--name <name>', 'what to call it in lists')
      .addOption(
        new Option('--credential <place>', 'where to keep the credential; by default the keychain, or a file without one').choices([
          'keychain',
          'file',
        ]),
      )
      .option('--replace', 'replace an entry called ambient that is not ours')
      .option('--print', 'show what would be written, and change nothing'),
    ['ambientctl mcp connect claude-desktop', 'a backup of its configuration is kept'],
    ['ambientctl mcp connect cursor --print', 'only show it'],
    ['ambientctl mcp connect codex --toolset sessions --tag work', 'with limits'],
  ).action((host: string, options: ConnectOptions) => connect(context, host, options));
  examples(
    mcp
      .command('disconnect')
      .description("take the entry out of a host's configuration and revoke its profile")
      .argument('<host>', HOST_HELP),
    ['ambientctl mcp disconnect cursor', 'nothing else in the file changes'],
  ).action((host: string) => disconnect(context, host));
}

function registerClients(mcp: Command, context: CliContext): void {
  examples(mcp.command('list').description('clients and what they may do').option('--all', 'revoked ones too'), [
    'ambientctl mcp list --json',
    'an array',
  ]).action((options: { all?: boolean }) => list(context, options));
  examples(
    grantOptions(
      mcp.command('set').description("change a client's limits; holds for open connections too").argument('<client>', CLIENT_HELP),
    )
      .option('--all-sessions', 'lift every limit on sessions first')
      .option('--name <name>', 'rename it', nonBlank),
    ['ambientctl mcp set cursor --access trusted', 'destructive calls without asking'],
    ['ambientctl mcp set cursor --all-sessions --since 7d', 'from a week ago on; the day stays'],
  ).action((client: string, options: GrantOptions & { name?: string }) => set(context, client, options));
  examples(mcp.command('revoke').description('end access for good and cut open connections').argument('<client...>', CLIENT_HELP), [
    'ambientctl mcp revoke cursor',
    'at once',
  ]).action((clients: string[]) => revoke(context, clients));
  const token = group(mcp, 'token', 'tokens for hosts that `connect` does not know');
  examples(
    grantOptions(token.command('create').description('make a client and print its token, once')).requiredOption(
      '--name <name>',
      'what to call it in lists',
      nonBlank,
    ),
    ['ambientctl mcp token create --name notes', 'the token is on stdout'],
    ['ambientctl mcp token create --name watch --toolset sessions,assistant', 'seven tools'],
  ).action((options: GrantOptions & { name: string }) => createToken(context, options));
}
