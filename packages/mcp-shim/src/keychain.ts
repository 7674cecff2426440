import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type KeychainRequest =
  | { readonly verb: 'get'; readonly id: string }
  | { readonly verb: 'set'; readonly id: string; readonly secret: string }
  | { readonly verb: 'delete'; readonly id: string };

export type KeychainReply =
  /** `secret` is null when the keychain has no such entry. */
  | { readonly ok: true; readonly secret: string | null }
  /** `isAbsent`: this machine has no keychain at all. */
  | { readonly ok: false; readonly message: string; readonly isAbsent?: true };

/** A locked keychain asks its user; that long they have, ms. */
const PATIENCE_MS = 20_000;
const CHILD = fileURLToPath(new URL('./keychain-child.js', import.meta.url));

/**
 * One call to the macOS Keychain or the Secret Service, in a process of its own: a keychain that waits for its user
 * would otherwise hold a thread that even `process.exit()` waits for. The secret goes through pipes, never through arguments.
 */
export function askKeychain(request: KeychainRequest, patienceMs = PATIENCE_MS): Promise<KeychainReply> {
  const env = childEnvironment();
  if (process.platform === 'linux' && !env.DBUS_SESSION_BUS_ADDRESS)
    return Promise.resolve({ ok: false, message: 'there is no session bus, and so no Secret Service', isAbsent: true });
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'ignore'], env });
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    const fail = (message: string): void => {
      clearTimeout(timer);
      resolve({ ok: false, message });
    };
    child.on('error', () => fail('The keychain helper cannot be started.'));
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', (_code, signal) => {
      const reply = readReply(Buffer.concat(chunks).toString('utf8'));
      if (reply === undefined)
        return fail(
          signal === 'SIGKILL'
            ? `The keychain did not answer within ${patienceMs / 1000} s.`
            : 'The keychain helper ended without an answer.',
        );
      clearTimeout(timer);
      resolve(reply);
    });
    child.stdin.end(JSON.stringify(request));
  });
}

function readReply(text: string): KeychainReply | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'ok' in value ? (value as KeychainReply) : undefined;
  } catch {
    return undefined;
  }
}

/** A host passes no session bus on; systemd keeps the user's at a fixed place. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { AMBIENT_MCP_TOKEN: _secret, ...env } = process.env;
  const bus = `/run/user/${process.getuid?.() ?? ''}/bus`;
  if (process.platform === 'linux' && !env.DBUS_SESSION_BUS_ADDRESS && existsSync(bus)) env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${bus}`;
  return env;
}
