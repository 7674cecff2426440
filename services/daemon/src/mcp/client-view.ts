import type { AccessLevel, Scope, Toolset } from '@ambient/contract';

/** What the tools know of the client that calls them. */
export interface ClientView {
  readonly id: string;
  readonly name: string;
  readonly access: AccessLevel;
  readonly toolsets: readonly Toolset[];
  readonly scope: Scope;
}
