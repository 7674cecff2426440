import type { Socket } from 'node:net';
import { McpHandshake, type McpHandshakeReply } from '@ambient/contract';

/** Longest handshake line, bytes. */
export const MAX_HANDSHAKE_BYTES = 4096;
/** A connection that has not introduced itself by then is dropped, ms. */
export const HANDSHAKE_MS = 5_000;

export type HandshakeRead =
  | { readonly ok: true; readonly handshake: McpHandshake; readonly rest: Buffer }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the first line of a connection. The bytes after it belong to whoever speaks next.
 * Resolves undefined when the connection ended before a line came.
 */
export function readHandshake(socket: Socket): Promise<HandshakeRead | undefined> {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    const finish = (result: HandshakeRead | undefined): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('end', onGone);
      socket.off('close', onGone);
      socket.pause();
      resolve(result);
    };
    const refuse = (reason: string): void => finish({ ok: false, reason });
    const onGone = (): void => finish(undefined);
    const onData = (chunk: Buffer): void => {
      seen = Buffer.concat([seen, chunk]);
      const at = seen.indexOf(0x0a);
      if (at > MAX_HANDSHAKE_BYTES || (at === -1 && seen.length > MAX_HANDSHAKE_BYTES)) {
        refuse(`The first line is longer than ${MAX_HANDSHAKE_BYTES} bytes.`);
        return;
      }
      if (at === -1) return;
      const handshake = McpHandshake.safeParse(parseJson(seen.subarray(0, at).toString('utf8')));
      if (!handshake.success) refuse('The first line is not a handshake.');
      else finish({ ok: true, handshake: handshake.data, rest: seen.subarray(at + 1) });
    };
    const timer = setTimeout(() => refuse(`No handshake came within ${HANDSHAKE_MS / 1000} s.`), HANDSHAKE_MS);
    socket.on('data', onData);
    socket.on('end', onGone);
    socket.on('close', onGone);
  });
}

type RefusalCode = Extract<McpHandshakeReply, { ok: false }>['code'];

const REFUSALS: Readonly<Record<RefusalCode, { message: string; hint: string }>> = {
  wrong_token: {
    message: 'This token is not known here.',
    hint: 'Connect this host again with `ambientctl mcp connect HOST`, or make a token with `ambientctl mcp token create`.',
  },
  revoked: {
    message: 'This token has been revoked.',
    hint: 'Connect this host again with `ambientctl mcp connect HOST` if it should have access.',
  },
  expired: {
    message: 'This token expired: it was not used for 90 days.',
    hint: 'Connect this host again with `ambientctl mcp connect HOST`.',
  },
  disabled: {
    message: 'Access is switched off for this client.',
    hint: 'Switch it on with `ambientctl mcp set CLIENT --access enabled`.',
  },
  bad_handshake: {
    message: 'This socket takes connections of ambient-mcp only.',
    hint: 'Let the host run `ambient-mcp`; it speaks to this socket.',
  },
  slow_down: {
    message: 'Too many connections at once.',
    hint: 'Wait a moment, then connect again.',
  },
  closing: {
    message: 'The MCP server is shutting down.',
    hint: 'Connect again in a moment; `ambientctl mcp status` says whether it is enabled.',
  },
};

/** The refusal line for a code. `message` replaces the general one. */
export function refusal(code: RefusalCode, extra: { message?: string; retryAfterS?: number } = {}): McpHandshakeReply {
  const { message, hint } = REFUSALS[code];
  return {
    ok: false,
    code,
    message: extra.message ?? message,
    hint,
    ...(extra.retryAfterS === undefined ? {} : { retry_after_s: extra.retryAfterS }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
