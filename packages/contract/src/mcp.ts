import { z } from 'zod';

export const AccessLevel = z.enum(['disabled', 'enabled', 'trusted']);
export type AccessLevel = z.infer<typeof AccessLevel>;

export const Toolset = z.enum(['sessions', 'assistant', 'library']);
export type Toolset = z.infer<typeof Toolset>;

/** Limits every list, search, read and subscription of a client; what is outside is as good as absent. */
export const Scope = z.object({
  tags: z.array(z.string()).default([]),
  /** ISO date or time; sessions that started earlier are out of scope. */
  since: z.string().nullable().default(null),
  sessions: z.array(z.string()).default([]),
});
export type Scope = z.infer<typeof Scope>;

/** A client as the user sees it: never its token. */
export const McpClient = z.object({
  id: z.string(),
  name: z.string(),
  /** Host it was made for by `mcp connect`, or null for a bare token. */
  host: z.string().nullable(),
  access: AccessLevel,
  toolsets: z.array(Toolset),
  scope: Scope,
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  /** Unused until then, the client expires. */
  expires_at: z.string(),
  revoked_at: z.string().nullable(),
  connections: z.number().int(),
});
export type McpClient = z.infer<typeof McpClient>;

export const AuditEntry = z.object({
  operation: z.string(),
  tool: z.string(),
  outcome: z.enum(['started', 'succeeded', 'failed']),
  at: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** First line a shim sends on mcp.sock, before any JSON-RPC. At most 4 KiB, within 5 s. */
export const McpHandshake = z.object({
  ambient: z.literal(1),
  token: z.string().min(1).max(512),
  /** What launched the shim, for the user's list of connections. */
  shim: z.object({ version: z.string(), pid: z.number().int() }).optional(),
});
export type McpHandshake = z.infer<typeof McpHandshake>;

/** The daemon's one-line answer to the handshake. */
export const McpHandshakeReply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), client: z.string(), name: z.string() }),
  z.object({
    ok: z.literal(false),
    code: z.enum(['wrong_token', 'revoked', 'expired', 'disabled', 'bad_handshake', 'slow_down', 'closing']),
    message: z.string(),
    hint: z.string(),
    retry_after_s: z.number().optional(),
  }),
]);
export type McpHandshakeReply = z.infer<typeof McpHandshakeReply>;
