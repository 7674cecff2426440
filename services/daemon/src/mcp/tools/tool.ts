import { AmbientError, type Toolset } from '@ambient/contract';
import type { Tool as ToolDescription } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ClientView } from '../client-view.js';
import type { LimitClass } from '../limits.js';
import type { ScopedSessions } from '../scoped-sessions.js';
import type { McpServices } from '../services.js';

/** One call of a tool, as the tool sees it. */
export interface ToolCall {
  readonly client: ClientView;
  readonly sessions: ScopedSessions;
  readonly services: McpServices;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Bytes that the text of a reply to a read may have now. */
  readonly room: () => number;
  /** Tells the caller that the call is alive. Undefined unless the caller asked for that. */
  readonly progress: ((seconds: number, total: number, message: string) => void) | undefined;
}

export interface ToolResult {
  /** Fits the tool's output schema. */
  readonly structured: Readonly<Record<string, unknown>>;
  /** The text twin; by default `structured` as JSON. */
  readonly text?: string;
}

/** `status` reads what happens now, `read` content, `live` waits for it; the others change something. */
export type ToolClass = LimitClass | 'destroy';

interface ToolSpec<I extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly kind: ToolClass;
  /** What to do when a reply is larger than the client may read now. */
  readonly whenTooLarge?: string;
  /** The same call again changes nothing more. */
  readonly idempotent: boolean;
  readonly input: I;
  readonly output: z.ZodObject;
  readonly run: (args: z.output<I>, call: ToolCall) => Promise<ToolResult>;
}

export interface Tool {
  readonly name: string;
  readonly toolset: Toolset;
  readonly kind: ToolClass;
  readonly whenTooLarge: string | undefined;
  /** As `tools/list` shows it. */
  readonly description: ToolDescription;
  readonly output: z.ZodObject;
  /** @throws AmbientError worded for the agent; `bad_request` when the arguments do not fit */
  readonly run: (args: unknown, call: ToolCall) => Promise<ToolResult>;
}

export function defineTool<I extends z.ZodObject>(spec: ToolSpec<I>): Tool {
  const { name, title, description, toolset, kind, input, output } = spec;
  return {
    name,
    toolset,
    kind,
    whenTooLarge: spec.whenTooLarge,
    output,
    description: {
      name,
      title,
      description,
      inputSchema: jsonSchema(input, 'input') as ToolDescription['inputSchema'],
      outputSchema: jsonSchema(output, 'output') as NonNullable<ToolDescription['outputSchema']>,
      annotations: {
        title,
        readOnlyHint: kind === 'status' || kind === 'read' || kind === 'live',
        destructiveHint: kind === 'destroy',
        idempotentHint: spec.idempotent,
        openWorldHint: false,
      },
    },
    async run(args, call) {
      const parsed = input.safeParse(args ?? {});
      if (!parsed.success) throw new AmbientError('bad_request', `Invalid arguments for ${name}: ${problems(parsed.error)}.`);
      return spec.run(parsed.data, call);
    },
  };
}

/** `limit: too big: expected number to be <=200; query: expected string, received undefined` */
function problems(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => {
      const what = message.replace(/^Invalid (input|option): /, '').replace(/^./, (first) => first.toLowerCase());
      return path.length === 0 ? what : `${path.join('.')}: ${what}`;
    })
    .join('; ');
}

/** Without `$schema`: hosts on older revisions check with draft-07 and refuse to load a later dialect by name. */
function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io }) as Record<string, unknown>;
  return { ...json, properties: json.properties ?? {} };
}

/** An object's JSON on one line with its keys in sorted order, at every depth. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
