import type { AmbientError } from '@ambient/contract';

/** Message and hint as sentences. A hint on options of the command line is left out: the agent has no such thing. */
export function wording({ message, hint }: AmbientError): string {
  if (hint === undefined || /(^|[\s`])--\w/.test(hint)) return message;
  return /[.!?…:]$/.test(message) ? `${message} ${hint}` : `${message}. ${hint}`;
}
