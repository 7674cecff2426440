import { AmbientError } from '@ambient/contract';
import { CredentialError } from '@ambient/mcp-shim';

/** An error of the credential store as the rest of this program knows errors. */
export function asAmbientError(error: unknown): unknown {
  if (!(error instanceof CredentialError)) return error;
  return new AmbientError('unavailable', error.problem.message, error.problem.hint, { cause: error });
}
