import type { JSONRPCErrorResponse, JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
/** Too much at once on one connection. */
export const BUSY = -32000;

/** What one line turned out to be: a message, or the error to answer it with. */
export type Parsed = { readonly message: JSONRPCMessage } | { readonly error: RpcError };

/** An error response as it goes on the wire; `id` is null when the request's own cannot be known. */
export interface RpcError {
  readonly jsonrpc: '2.0';
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

export function rpcError(id: RequestId | null, code: number, message: string): RpcError {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isString = (value: unknown): value is string => typeof value === 'string';
const isId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

/** Reads one line as a JSON-RPC message. Every rejection says in one sentence what is wrong with it. */
export function parseMessage(line: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: rpcError(null, PARSE_ERROR, 'Parse error: the line is not JSON.') };
  }
  if (Array.isArray(value))
    return { error: rpcError(null, INVALID_REQUEST, 'Invalid request: batches are not supported; send one message a line.') };
  if (!isObject(value)) return { error: rpcError(null, INVALID_REQUEST, 'Invalid request: a message is a JSON object.') };
  const id = isId(value.id) ? value.id : null;
  const invalid = (message: string): Parsed => ({ error: rpcError(id, INVALID_REQUEST, `Invalid request: ${message}`) });
  if (value.jsonrpc !== '2.0') return invalid('`jsonrpc` must be "2.0".');
  if (value.id !== undefined && id === null) return invalid('`id` must be a string or an integer.');
  if (value.method === undefined) {
    const answers = id !== null && (isObject(value.result) || isObject(value.error));
    return answers ? { message: value as unknown as JSONRPCMessage } : invalid('`method` is missing.');
  }
  if (typeof value.method !== 'string') return invalid('`method` must be a string.');
  if (value.params !== undefined && !isObject(value.params)) return invalid('`params` must be an object.');
  if (id !== null) {
    const problem = paramsProblem(value.method, value.params ?? {});
    if (problem !== undefined) return { error: rpcError(id, INVALID_PARAMS, `Invalid params: ${problem}`) };
  }
  return { message: value as unknown as JSONRPCMessage };
}

/** What is wrong with the parameters of a request; what is not looked at here, the handlers check. */
function paramsProblem(method: string, params: Record<string, unknown>): string | undefined {
  switch (method) {
    case 'initialize':
      return initializeProblem(params);
    case 'prompts/get':
      if (typeof params.name !== 'string') return '`name` must be a string.';
      if (params.arguments === undefined || (isObject(params.arguments) && Object.values(params.arguments).every(isString)))
        return undefined;
      return '`arguments` must be an object of strings.';
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return typeof params.uri === 'string' ? undefined : '`uri` must be a string.';
    case 'completion/complete':
      return completeProblem(params);
    default:
      return undefined;
  }
}

function completeProblem({ ref, argument }: Record<string, unknown>): string | undefined {
  const isRef = isObject(ref) && ((ref.type === 'ref/prompt' && isString(ref.name)) || (ref.type === 'ref/resource' && isString(ref.uri)));
  if (!isRef) return '`ref` must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}.';
  if (!isObject(argument) || !isString(argument.name) || !isString(argument.value))
    return '`argument` must have a `name` and a `value`, both strings.';
  return undefined;
}

/** The opening request is written by hand more often than any other, so it gets an answer a person can read. */
function initializeProblem(params: object): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params as Record<string, unknown>;
  if (typeof protocolVersion !== 'string') return 'initialize needs `protocolVersion`, for example "2025-11-25".';
  if (!isObject(capabilities)) return 'initialize needs `capabilities`, an object that may be empty.';
  if (!isObject(clientInfo) || typeof clientInfo.name !== 'string' || typeof clientInfo.version !== 'string')
    return 'initialize needs `clientInfo` with a `name` and a `version`.';
  return undefined;
}

/** Turns a validation library's dump in an error message into one line: `params.name: expected string`. */
export function readableError(message: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const text = message.error.message;
  const start = text.indexOf('[');
  if (start === -1 || !text.includes('\n')) return message;
  let issues: unknown;
  try {
    issues = JSON.parse(text.slice(start));
  } catch {
    return message;
  }
  if (!Array.isArray(issues)) return message;
  const lines = issues.filter(isObject).map((issue) => {
    const path = Array.isArray(issue.path) ? issue.path.join('.') : '';
    return `${path === '' ? '' : `${path}: `}${String(issue.message)}`;
  });
  return { ...message, error: { ...message.error, message: `${text.slice(0, start).trimEnd()} ${lines.join('; ')}`.trim() } };
}
