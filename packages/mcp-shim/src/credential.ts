import type { HomePaths } from '@ambient/contract/paths';
import { CredentialError } from './credential-error.js';
import { loadCredential } from './credential-store.js';

/** What the shim shows the daemon to be let in. */
export interface Credential {
  /** @throws CredentialError */
  load(): Promise<string>;
}

/**
 * A profile's credential is read anew for each connection: it may have been replaced while the host ran.
 * The environment's token is given once and taken out of the environment, so that no child process inherits it.
 */
export function credentialOf(profile: string | undefined, env: NodeJS.ProcessEnv, paths: HomePaths): Credential {
  const token = env.AMBIENT_MCP_TOKEN?.trim();
  delete env.AMBIENT_MCP_TOKEN;
  if (profile !== undefined) return { load: () => loadCredential(paths, profile) };
  if (token) return { load: () => Promise.resolve(token) };
  return { load: () => Promise.reject(new CredentialError(NO_CREDENTIAL)) };
}

export const NO_CREDENTIAL = {
  code: 'no_credential',
  message: 'This host has no credential for Ambient.',
  hint: 'Run `ambientctl mcp connect HOST`, or set AMBIENT_MCP_TOKEN to a token from `ambientctl mcp token create --name N`.',
} as const;
