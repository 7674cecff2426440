import type { AccessLevel, Approval, AuditEntry, McpClient, Scope, Toolset, Warning } from '@ambient/contract';

/** What the control API needs of the MCP server. */
export interface McpPort {
  enable(): Promise<void>;
  disable(): Promise<void>;
  state(): { enabled: boolean; socket: string | null; connections: number };
  warnings(): Omit<Warning, 'at'>[];
  clients(): Promise<readonly McpClient[]>;
  create(init: {
    name: string;
    host?: string | null | undefined;
    access: AccessLevel;
    toolsets: Toolset[];
    scope?: Scope | undefined;
  }): Promise<{ client: McpClient; token: string }>;
  /** @throws AmbientError `not_found` */
  set(
    id: string,
    change: { access?: AccessLevel | undefined; toolsets?: Toolset[] | undefined; scope?: Scope | undefined; name?: string | undefined },
  ): Promise<McpClient>;
  revoke(id: string): Promise<McpClient>;
  audit(limit: number): Promise<readonly AuditEntry[]>;
  approvals(): readonly Approval[];
  /** @throws AmbientError `not_found` when it is unknown or no longer pending */
  decide(id: string, decision: 'approve' | 'deny'): Promise<Approval>;
}
