import type { McpHandshake } from '@ambient/contract';
import { isObject } from './message.js';
import type { Problem } from './problem.js';
import { SILENT } from './reach.js';
import { VERSION } from './version.js';

export type HandshakeReply =
  | { readonly kind: 'welcome' }
  /** The daemon will not have this shim until something is changed. */
  | { readonly kind: 'refused'; readonly problem: Problem }
  /** Worth asking again, by itself or after so long. */
  | { readonly kind: 'later'; readonly problem: Problem; readonly afterMs: number | undefined };

/** The shim's first line on mcp.sock. */
export function handshakeLine(token: string): string {
  const handshake: McpHandshake = { ambient: 1, token, shim: { version: VERSION, pid: process.pid } };
  return `${JSON.stringify(handshake)}\n`;
}

/** Reads the daemon's one-line answer; anything else than an answer is asked for again later. */
export function readHandshakeReply(line: string): HandshakeReply {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  if (!isObject(value) || typeof value.ok !== 'boolean') return { kind: 'later', problem: SILENT, afterMs: undefined };
  if (value.ok) return { kind: 'welcome' };
  const problem: Problem = {
    code: typeof value.code === 'string' ? value.code : 'refused',
    message: typeof value.message === 'string' ? value.message : 'Ambient refused the connection.',
    hint: typeof value.hint === 'string' ? value.hint : 'Run `ambientctl mcp list`.',
  };
  if (problem.code === 'slow_down')
    return { kind: 'later', problem, afterMs: typeof value.retry_after_s === 'number' ? Math.min(value.retry_after_s, 600) * 1000 : 5000 };
  return problem.code === 'closing' ? { kind: 'later', problem, afterMs: undefined } : { kind: 'refused', problem };
}
