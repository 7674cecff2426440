import { type Check, check } from '@ambient/contract';
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
  if (warnings.length > (unknown.length > 0 ? 1 : 0))
    return check.failure(ID, TITLE, warnings.join(' '), `Correct ${file}; \`ambientctl config\` shows what holds.`);
  if (unknown.length > 0) return check.warning(ID, TITLE, warnings.join(' '), `Correct or remove them in ${file}.`);
  const drift = await running.drift();
  if (drift !== undefined) return check.warning(ID, TITLE, drift.message, drift.hint);
  return check.ok(ID, TITLE, 'Every setting fits.');
}
