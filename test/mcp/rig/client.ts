import { Client as ModernClient } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** The four clients that the suites run with. */
export const CLIENT_KINDS = ['v2 auto', 'v2 pinned to 2026-07-28', 'v2 legacy', 'v1'] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

export interface ToolReply {
  readonly text: string;
  readonly isError: boolean | undefined;
  readonly structured: Record<string, unknown> | undefined;
  readonly content: readonly { readonly type: string }[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: { progress: number; total?: number | undefined }) => void;
}

export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown> | undefined;
  readonly annotations?: Record<string, unknown> | undefined;
}

/** One API over the SDKs' clients: the suites do not know which one they use. */
export interface McpTestClient {
  readonly kind: ClientKind;
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  readonly capabilities: Record<string, unknown>;
  listTools(): Promise<ListedTool[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolReply>;
  listPrompts(): Promise<{ name: string; arguments?: { name: string }[] | undefined }[]>;
  getPrompt(name: string, args?: Record<string, string>): Promise<string>;
  listResources(cursor?: string): Promise<{ resources: { uri: string; name: string }[]; nextCursor?: string | undefined }>;
  listTemplates(): Promise<{ uriTemplate: string }[]>;
  readResource(uri: string): Promise<string>;
  complete(prompt: string, argument: string, value: string): Promise<string[]>;
  /** Calls `listener` with the URI of each update until the returned function is called. */
  subscribe(uri: string, listener: (uri: string) => void): Promise<() => Promise<void>>;
  onToolsChanged(listener: () => void): Promise<void>;
  close(): Promise<void>;
}

/** What either SDK takes as a transport. */
// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' transports are the same shape under different nominal types.
export type AnyTransport = any;

const INFO = { name: 'ambient-test', version: '1.0.0' };

/** Connects a client of the given kind. `transport` is used by this client alone. */
export async function connectClient(kind: ClientKind, transport: AnyTransport): Promise<McpTestClient> {
  return kind === 'v1' ? connectV1(transport) : connectV2(kind, transport);
}

async function connectV2(kind: Exclude<ClientKind, 'v1'>, transport: AnyTransport): Promise<McpTestClient> {
  const mode = kind === 'v2 auto' ? 'auto' : kind === 'v2 legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  await client.connect(transport);
  const updates = new Set<(uri: string) => void>();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    for (const listener of updates) listener(params.uri);
  });
  const isModern = kind !== 'v2 legacy';
  return {
    kind,
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
    listTools: async () => (await client.listTools()).tools as ListedTool[],
    async call(name, args = {}, options = {}) {
      return toReply(await client.callTool({ name, arguments: args }, requestOptions(options)));
    },
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: async (name, args = {}) => promptText(await client.getPrompt({ name, arguments: args })),
    listResources: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }),
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: async (uri) => resourceText(await client.readResource({ uri })),
    complete: async (prompt, argument, value) =>
      (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name: argument, value } })).completion.values,
    async subscribe(uri, listener) {
      updates.add(listener);
      if (!isModern) {
        await client.subscribeResource({ uri });
        return async () => {
          updates.delete(listener);
          await client.unsubscribeResource({ uri });
        };
      }
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return async () => {
        updates.delete(listener);
        await subscription.close();
      };
    },
    async onToolsChanged(listener) {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
      if (isModern) await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  };
}

async function connectV1(transport: AnyTransport): Promise<McpTestClient> {
  const { ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const client = new LegacyClient(INFO);
  await client.connect(transport as LegacyTransport);
  const updates = new Set<(uri: string) => void>();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    for (const listener of updates) listener(params.uri);
  });
  return {
    kind: 'v1',
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
    listTools: async () => (await client.listTools()).tools as ListedTool[],
    async call(name, args = {}, options = {}) {
      return toReply(await client.callTool({ name, arguments: args }, undefined, requestOptions(options)));
    },
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: async (name, args = {}) => promptText(await client.getPrompt({ name, arguments: args })),
    listResources: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }),
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: async (uri) => resourceText(await client.readResource({ uri })),
    complete: async (prompt, argument, value) =>
      (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name: argument, value } })).completion.values,
    async subscribe(uri, listener) {
      updates.add(listener);
      await client.subscribeResource({ uri });
      return async () => {
        updates.delete(listener);
        await client.unsubscribeResource({ uri });
      };
    },
    async onToolsChanged(listener) {
      client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
    },
    close: () => client.close(),
  };
}

function requestOptions({ signal, timeoutMs, onProgress }: CallOptions): RequestOptions {
  return {
    ...(signal ? { signal } : {}),
    ...(timeoutMs ? { timeout: timeoutMs } : {}),
    ...(onProgress ? { onprogress: onProgress } : {}),
  };
}

function toReply(result: unknown): ToolReply {
  const { content, isError, structuredContent } = result as {
    content: { type: string; text?: string }[];
    isError?: boolean;
    structuredContent?: Record<string, unknown>;
  };
  return { text: content[0]?.text ?? '', isError, structured: structuredContent, content };
}

function promptText(result: unknown): string {
  const { messages } = result as { messages: { content: { type: string; text?: string } }[] };
  return messages.map(({ content }) => content.text ?? '').join('\n');
}

function resourceText(result: unknown): string {
  const { contents } = result as { contents: { text?: string }[] };
  return contents.map(({ text }) => text ?? '').join('\n');
}
