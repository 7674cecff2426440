import type { AmbientClient } from '@ambient/client';
import { AccessLevel, AmbientError, type McpClient, Scope, Toolset } from '@ambient/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { momentArgument } from '../args/moment.js';
import { suggest } from '../args/suggest.js';
import { plain } from '../output/text.js';
import { localMinute } from '../output/time.js';

/** What a client may do, as options give it. */
export interface GrantOptions {
  readonly access?: AccessLevel;
  readonly toolset?: Toolset[];
  readonly tag?: string[];
  readonly since?: string;
  readonly session?: string[];
  readonly allSessions?: boolean;
}

/** Options that say what a client may do. */
export function grantOptions(command: Command): Command {
  return command
    .addOption(new Option('--access <level>', 'what it may do without asking').choices(AccessLevel.options))
    .addOption(new Option('--toolset <names>', `tools it sees: ${Toolset.options.join(', ')}; by commas or repeated`).argParser(toolsets))
    .addOption(new Option('--tag <tag>', 'only sessions with this tag; may be repeated').argParser(list))
    .addOption(
      new Option(
        '--since <when>',
        'only sessions from then on: a date, a time, or an age such as 7d, counted back from now once and for all',
      ).argParser((text) => momentArgument(text)),
    )
    .addOption(
      new Option('--session <id>', 'only this session: its id, a unique prefix, its name, or last; may be repeated').argParser(list),
    );
}

function list(text: string, previous: string[] | undefined): string[] {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return [...(previous ?? []), text.trim()];
}

function toolsets(text: string, previous: Toolset[] | undefined): Toolset[] {
  const found = text.split(',').map((word) => {
    const name = word.trim();
    const toolset = Toolset.safeParse(name);
    if (toolset.success) return toolset.data;
    const near = suggest(name, Toolset.options);
    throw new InvalidArgumentError(near === undefined ? `Known toolsets: ${Toolset.options.join(', ')}.` : `Did you mean ${near}?`);
  });
  return [...new Set([...(previous ?? []), ...found])];
}

/**
 * The options with every session by its id: a limit holds on for longer than `last` or a prefix means the same session.
 * @throws AmbientError `not_found`, `ambiguous`
 */
export async function withSessionIds<T extends GrantOptions>(client: AmbientClient, options: T): Promise<T> {
  if (options.session === undefined) return options;
  const ids: string[] = [];
  for (const session of options.session) ids.push((await client.call('session', { params: { session } })).summary.id);
  return { ...options, session: [...new Set(ids)] };
}

/** The scope that options describe on top of `base`, or undefined when they say nothing about it. */
export function scopeOf(options: GrantOptions, base?: Scope): Scope | undefined {
  const { tag, since, session, allSessions } = options;
  if (tag === undefined && since === undefined && session === undefined && allSessions !== true) return undefined;
  const from = allSessions === true || base === undefined ? Scope.parse({}) : base;
  return { tags: tag ?? from.tags, since: since ?? from.since, sessions: session ?? from.sessions };
}

/** What the options change, as the control API takes it. */
export function grantOf(options: GrantOptions, base?: Scope): { access?: AccessLevel; toolsets?: Toolset[]; scope?: Scope } {
  const scope = scopeOf(options, base);
  return {
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.toolset === undefined ? {} : { toolsets: options.toolset }),
    ...(scope === undefined ? {} : { scope }),
  };
}

export type ClientState = 'active' | 'disabled' | 'revoked' | 'expired';

export function stateOf(client: McpClient, now = Date.now()): ClientState {
  if (client.revoked_at !== null) return 'revoked';
  if (Date.parse(client.expires_at) <= now) return 'expired';
  return client.access === 'disabled' ? 'disabled' : 'active';
}

/** The client meant by an id, a unique prefix of one, a name, or a host. @throws AmbientError `not_found`, `ambiguous` */
export function findClient(clients: readonly McpClient[], word: string): McpClient {
  const exact = clients.find(({ id }) => id === word);
  if (exact !== undefined) return exact;
  const live = clients.filter(({ revoked_at }) => revoked_at === null);
  for (const pool of [live, clients]) {
    const lower = word.toLowerCase();
    for (const matches of [
      pool.filter(({ name }) => name === word),
      pool.filter(({ name, host }) => name.toLowerCase() === lower || host === lower),
      pool.filter(({ id }) => id.startsWith(word)),
    ]) {
      const [only, second] = matches;
      if (only !== undefined && second === undefined) return only;
      if (only !== undefined)
        throw new AmbientError(
          'ambiguous',
          `${matches.length} clients match ${word}: ${matches.map(({ id }) => id).join(', ')}.`,
          'Give the id.',
        );
    }
  }
  throw new AmbientError('not_found', `There is no MCP client ${word}.`, '`ambientctl mcp list` shows them.');
}

/** A scope in words. */
export function scopeInWords({ tags, since, sessions }: Scope): string {
  const parts = [
    ...(tags.length > 0 ? [`tagged ${tags.join(' or ')}`] : []),
    ...(since === null ? [] : [`since ${since.includes('T') ? localMinute(since) : since}, fixed`]),
    ...(sessions.length > 0 ? [sessions.join(', ')] : []),
  ];
  return parts.length === 0 ? 'all sessions' : parts.join('; ');
}

/** A client's rights, for people. */
export function describe(client: McpClient): string {
  return plain(`${client.name} (${client.id}): ${client.access}, tools ${client.toolsets.join(', ')}, sees ${scopeInWords(client.scope)}.`);
}
