import { text } from 'node:stream/consumers';
import type { KeychainReply, KeychainRequest } from './keychain.js';

const SERVICE = 'ambient-mcp';

async function serve(request: KeychainRequest): Promise<KeychainReply> {
  const { Entry } = await import('@napi-rs/keyring');
  // Without this the library falls back to the kernel's keyring, which forgets everything at the next boot.
  const entry = new Entry(SERVICE, request.id, { linux: { store: 'secret-service' } });
  switch (request.verb) {
    case 'get':
      return { ok: true, secret: entry.getPassword() };
    case 'set':
      entry.setPassword(request.secret);
      return { ok: true, secret: null };
    case 'delete':
      entry.deleteCredential();
      return { ok: true, secret: null };
  }
}

let reply: KeychainReply;
try {
  reply = await serve(JSON.parse(await text(process.stdin)) as KeychainRequest);
} catch (error) {
  reply = { ok: false, message: error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown error' };
}
process.stdout.write(JSON.stringify(reply));
