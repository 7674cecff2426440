import { CONFIG_KEYS, check, configEnvName } from '@ambient/contract';
import { suggest } from '../args/suggest.js';
import type { LocalCheck } from './types.js';

/** What is read besides the settings. */
const OTHERS = ['AMBIENT_HOME', 'AMBIENT_MCP_TOKEN', 'AMBIENT_SERVICE'];

/** Variables that look like ours and that nothing reads: most likely mistyped. */
export const checkEnvironment: LocalCheck = async ({ env }) => {
  const known = [...CONFIG_KEYS.map(configEnvName), ...OTHERS];
  return Object.keys(env)
    .filter((name) => name.startsWith('AMBIENT_') && env[name] !== undefined && !known.includes(name))
    .map((name) => {
      const meant = suggest(name, known);
      const fix =
        meant === undefined ? `Unset ${name}; \`ambientctl config\` lists what can be set.` : `Did you mean ${meant}? Unset ${name}.`;
      return check.warning('environment', 'Environment', `Nothing reads ${name}.`, fix);
    });
};
