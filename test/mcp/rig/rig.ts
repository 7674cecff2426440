import type { AccessLevel, Approval, AuditEntry, HomePaths, Scope, Toolset } from '@ambient/contract';
import type { AnyTransport, ClientKind } from './client.js';

export interface TokenInit {
  readonly access?: AccessLevel;
  readonly toolsets?: Toolset[];
  readonly scope?: Partial<Scope>;
}

/** A daemon, or what stands for one, as the suites see it: how to connect, and the user's side of everything. */
export interface Rig {
  readonly name: string;
  readonly paths: HomePaths;
  token(init?: TokenInit): Promise<{ id: string; token: string }>;
  /** False when a recording can only be started by the rig, from files. */
  readonly records: boolean;
  /** A fresh transport for one client of the given kind. */
  transport(token: string, kind: ClientKind): AnyTransport;
  /** What comes back on a connection that sends `input`, then ends. */
  pipe(token: string, input: string): Promise<string>;
  start(name?: string): Promise<string>;
  stop(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Resolves once the live session has at least one more line than when it was asked. */
  heard(): Promise<void>;
  /** Resolves when the transcript of a stopped session is complete. */
  finished(session: string): Promise<void>;
  live(): Promise<string | null>;
  approvals(): Promise<readonly Approval[]>;
  decide(id: string, decision: 'approve' | 'deny'): Promise<Approval>;
  audit(): Promise<readonly AuditEntry[]>;
  set(id: string, change: { access?: AccessLevel; toolsets?: Toolset[]; scope?: Partial<Scope> }): Promise<void>;
  revoke(id: string): Promise<void>;
  close(): Promise<void>;
}
