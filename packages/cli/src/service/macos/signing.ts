import { AmbientError } from '@ambient/contract';
import { lastLine, type Run } from '../exec.js';
import { SERVICE_LABEL } from '../host.js';

/** codesign's name for signing without an identity. */
export const AD_HOC = '-';

/** How lasting a grant is that macOS ties to this signature. */
export interface Signature {
  /** Name of the identity, or `-`. */
  readonly identity: string;
  readonly adHoc: boolean;
}

/** Identities by how long they last: a Developer ID outlives yearly development certificates, a self-made one comes last. */
const PREFERENCE = [/^Developer ID Application:/, /^Apple Development:/, /^Mac Developer:/];

/**
 * Valid code-signing identities of the user's keychains, the most lasting first.
 * `security find-identity -v` lists lines such as `  1) 0123…CDEF "Apple Development: a@b.c (TEAM)"`.
 */
export function parseIdentities(text: string): string[] {
  const names = [...text.matchAll(/^\s*\d+\)\s+[0-9A-F]{40}\s+"(.+)"\s*$/gm)].map(([, name]) => name ?? '');
  const rank = (name: string): number => {
    const at = PREFERENCE.findIndex((pattern) => pattern.test(name));
    return at < 0 ? PREFERENCE.length : at;
  };
  return [...new Set(names)].sort((a, b) => rank(a) - rank(b));
}

export interface SignResult extends Signature {
  /** Why the wanted identity was not used, when it was not. */
  readonly fallback?: string;
}

/**
 * Signs a bundle: with `wanted`, else with the first stable identity there is, else ad hoc. No time stamp is asked for,
 * which would need the network.
 * @throws AmbientError when even ad hoc signing fails, or `wanted` cannot be used
 */
export async function signBundle(run: Run, bundle: string, entitlements: string, wanted?: string): Promise<SignResult> {
  const identity = wanted ?? (await stableIdentity(run)) ?? AD_HOC;
  const refused = await sign(run, bundle, entitlements, identity);
  if (refused === undefined) return { identity, adHoc: identity === AD_HOC };
  if (wanted !== undefined || identity === AD_HOC)
    throw new AmbientError(
      'internal',
      `codesign could not sign ${bundle} with "${identity}": ${refused}`,
      identity === AD_HOC
        ? 'Check that the bundle is on a local disk, then run `ambientctl daemon install` again.'
        : 'Unlock the keychain (`security unlock-keychain`) and allow codesign to use the key, or sign ad hoc with `--identity -`.',
    );
  const adHoc = await sign(run, bundle, entitlements, AD_HOC);
  if (adHoc !== undefined)
    throw new AmbientError(
      'internal',
      `codesign could not sign ${bundle}: ${adHoc}`,
      'Check that the bundle is on a local disk, then try again.',
    );
  return { identity: AD_HOC, adHoc: true, fallback: `"${identity}" could not be used (${refused})` };
}

/** Checks an installed bundle's signature. @returns the reason it is not valid, or undefined */
export async function verifyBundle(run: Run, bundle: string): Promise<string | undefined> {
  const result = await run('codesign', ['--verify', '--strict', bundle]);
  return result.code === 0 ? undefined : lastLine(result.stderr) || `codesign exit code ${result.code}`;
}

/** The signature of an installed bundle, from `codesign --display`; undefined when it has none. */
export async function readSignature(run: Run, bundle: string): Promise<Signature | undefined> {
  const result = await run('codesign', ['--display', '--verbose=2', bundle]);
  if (result.code !== 0) return undefined;
  if (/^Signature=adhoc$/m.test(result.stderr)) return { identity: AD_HOC, adHoc: true };
  const authority = /^Authority=(.+)$/m.exec(result.stderr)?.[1];
  return authority === undefined ? undefined : { identity: authority, adHoc: false };
}

async function stableIdentity(run: Run): Promise<string | undefined> {
  const result = await run('security', ['find-identity', '-v', '-p', 'codesigning']);
  return result.code === 0 ? parseIdentities(result.stdout)[0] : undefined;
}

/** @returns codesign's reason, or undefined when it signed */
async function sign(run: Run, bundle: string, entitlements: string, identity: string): Promise<string | undefined> {
  const result = await run('codesign', [
    '--force',
    '--sign',
    identity,
    '--identifier',
    SERVICE_LABEL,
    '--options',
    'runtime',
    '--entitlements',
    entitlements,
    '--timestamp=none',
    bundle,
  ]);
  return result.code === 0 ? undefined : lastLine(result.stderr) || `exit code ${result.code}`;
}
