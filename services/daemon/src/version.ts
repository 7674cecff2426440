import { readFileSync } from 'node:fs';

/** Version of this build, from its package.json. */
export const VERSION: string = readVersion();

function readVersion(): string {
  const value: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : '0.0.0';
}
