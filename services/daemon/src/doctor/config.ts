import { type Check, check, configEnvName } from '@ambient/contract';
import { ConfigStore } from '../config/config-store.js';

const ID = 'config';
const TITLE = 'Configuration';

/** The file as it is now, which may have been changed by hand since the daemon read it. */
export async function configCheck(file: string, env: Readonly<Record<string, string | undefined>>, running: ConfigStore): Promise<Check> {
  const now = new ConfigStore({ file, env });
  await now.load();
  const warnings = now.warnings();
  const unknown = now.unknownKeys();
  // Unknown keys have one warning of their own.
  if (warnings.length > (unknown.length > 0 ? 1 : 0)) return check.failure(ID, TITLE, warnings.join(' '), remedy(file, env, now));
  if (unknown.length > 0) return check.warning(ID, TITLE, warnings.join(' '), `Correct or remove them in ${file}.`);
  const drift = await running.drift();
  if (drift !== undefined) return check.warning(ID, TITLE, drift.message, drift.hint);
  return check.ok(ID, TITLE, 'Every setting fits.');
}

/** Where the values stand that do not fit. */
function remedy(file: string, env: Readonly<Record<string, string | undefined>>, now: ConfigStore): string {
  const variables = now
    .entries()
    .filter(({ key, source }) => source !== 'environment' && env[configEnvName(key)] !== undefined)
    .map(({ key }) => configEnvName(key));
  const shows = '`ambientctl config` shows what holds.';
  if (variables.length === 0) return `Correct ${file}; ${shows}`;
  const unset = `Unset or correct ${variables.join(', ')} where the daemon is started from, then \`ambientctl daemon restart\`;`;
  return now.warnings().length > variables.length ? `${unset} correct ${file}; ${shows}` : `${unset} ${shows}`;
}
