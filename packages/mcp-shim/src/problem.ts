/** Why a request cannot be served by the shim, in words for the person at the other end. */
export interface Problem {
  /** Stable name, for `error.data.code`. */
  readonly code: string;
  readonly message: string;
  /** What to run or do next. */
  readonly hint: string;
}

/** JSON-RPC codes of answers that the shim gives in the daemon's place. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  unavailable: -32010,
  refused: -32011,
  outcomeUnknown: -32012,
} as const;

export type RequestId = string | number;

/** One line of JSON-RPC, without its newline. Hosts often show the message alone, so it carries the hint too. */
export function errorLine(id: RequestId | null, code: number, problem: Problem): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    error: { code, message: `${problem.message} ${problem.hint}`, data: { code: problem.code, hint: problem.hint } },
  });
}

/** A host's own mistake, answered as the daemon answers it. */
export function mistakeLine(id: RequestId | null, code: typeof RPC.parseError | typeof RPC.invalidRequest, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}
