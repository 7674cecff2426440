import { fileURLToPath } from 'node:url';

export { CredentialError } from './credential-error.js';
export type { CredentialPlace } from './credential-store.js';
export { loadCredential, removeCredential, storeCredential } from './credential-store.js';

/** Absolute path of the program that an MCP host starts. */
export function shimPath(): string {
  return fileURLToPath(new URL('../bin/ambient-mcp.js', import.meta.url));
}
