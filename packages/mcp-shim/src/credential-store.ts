import type { HomePaths } from '@ambient/contract/paths';
import { CredentialError } from './credential-error.js';
import { readCredentialFile, removeCredentialFile, writeCredentialFile } from './credential-file.js';
import { askKeychain } from './keychain.js';

/** Where a credential is kept. */
export type CredentialPlace = 'keychain' | 'file';

/**
 * Keeps a profile's credential: in the OS keychain, or in a 0600 file where there is none that works.
 * `only` insists on one of the two.
 * @throws CredentialError when the place insisted on cannot take it
 */
export async function storeCredential(paths: HomePaths, id: string, token: string, only?: CredentialPlace): Promise<CredentialPlace> {
  if (only !== 'file') {
    const stored = await askKeychain({ verb: 'set', id, secret: token });
    // A keychain that takes a secret and does not give it back is worse than none.
    const back = stored.ok ? await askKeychain({ verb: 'get', id }) : stored;
    if (back.ok && back.secret === token) {
      await removeCredentialFile(paths, id);
      return 'keychain';
    }
    if (only === 'keychain')
      throw new CredentialError({
        code: 'no_keychain',
        message: `The keychain cannot keep the credential: ${back.ok ? 'it did not give it back' : back.message}.`,
        hint: 'Unlock the keychain and try again, or use `--credential file`.',
      });
  }
  await writeCredentialFile(paths, id, token);
  return 'file';
}

/**
 * The credential of a profile. The file is looked at first: it costs nothing, and a credential lies in one place only.
 * @throws CredentialError
 */
export async function loadCredential(paths: HomePaths, id: string): Promise<string> {
  const inFile = await readCredentialFile(paths, id);
  if (inFile !== undefined) return inFile;
  const reply = await askKeychain({ verb: 'get', id });
  if (reply.ok && reply.secret !== null && reply.secret !== '') return reply.secret;
  throw new CredentialError({
    code: 'no_credential',
    message:
      reply.ok || reply.isAbsent === true
        ? `There is no credential on this machine: revoked or unknown profile ${id}.`
        : `The credential of profile ${id} is not in a file, and the keychain cannot be read: ${reply.message}.`,
    hint: 'Run `ambientctl mcp connect HOST` to make a new one.',
  });
}

/** Forgets a profile's credential wherever it is. */
export async function removeCredential(paths: HomePaths, id: string): Promise<void> {
  if (await removeCredentialFile(paths, id)) return;
  await askKeychain({ verb: 'delete', id });
}
