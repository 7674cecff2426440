import { type RequestId, RPC } from './problem.js';

/** What the shim has to know about a line; the line itself is passed on untouched. */
export type Message =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly kind: 'response'; readonly id: RequestId; readonly failed: boolean; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'invalid';
      readonly id: RequestId | null;
      readonly code: typeof RPC.parseError | typeof RPC.invalidRequest;
      readonly message: string;
    };

const PARSE_ERROR: Message = { kind: 'invalid', id: null, code: RPC.parseError, message: 'Parse error: the line is not JSON.' };

function invalid(id: unknown, message: string): Message {
  return { kind: 'invalid', id: isId(id) ? id : null, code: RPC.invalidRequest, message: `Invalid request: ${message}` };
}

/** Reads one line. Never throws. */
export function readMessage(line: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return PARSE_ERROR;
  }
  if (Array.isArray(value)) return invalid(null, 'batches are not supported; send one message a line.');
  if (!isObject(value)) return invalid(null, 'a message is a JSON object.');
  const { id, method } = value;
  if (value.jsonrpc !== '2.0') return invalid(id, '`jsonrpc` must be "2.0".');
  const params = isObject(value.params) ? value.params : {};
  if (typeof method === 'string') {
    if (id === undefined) return { kind: 'notification', method, params };
    return isId(id) ? { kind: 'request', id, method, params } : invalid(id, '`id` must be a string or an integer.');
  }
  if (!isId(id) || !('result' in value || 'error' in value)) return invalid(id, '`method` is missing.');
  return { kind: 'response', id, failed: 'error' in value, body: value };
}

/** Ids `1` and `"1"` are two different requests. */
export function idKey(id: RequestId): string {
  return `${typeof id}:${id}`;
}

export function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
