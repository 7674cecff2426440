import { chmod, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { AccessLevel, Scope, Toolset } from '@ambient/contract';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { readNoFollow } from '../platform/files.js';
import type { Logger } from '../platform/logger.js';

/** A client as it is kept on disk: the token only as its SHA-256. */
export const ClientRecord = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  host: z.string().nullable(),
  access: AccessLevel,
  toolsets: z.array(Toolset).min(1),
  scope: Scope,
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  /** Lower-case hex. */
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type ClientRecord = z.infer<typeof ClientRecord>;

const ClientFile = z.object({ schema: z.literal(1), clients: z.array(ClientRecord) });

/** `clients.json`: 0600, replaced atomically, never followed through a link. */
export class ClientStore {
  readonly #dir: string;
  readonly #logger: Logger;
  #aside: string | undefined;

  constructor(dir: string, logger: Logger) {
    this.#dir = dir;
    this.#logger = logger;
  }

  get file(): string {
    return path.join(this.#dir, 'clients.json');
  }

  /** Where the last `load` put a file that it could not read. */
  get aside(): string | undefined {
    return this.#aside;
  }

  /** A file that cannot be read is set aside, not overwritten; nobody has access then. */
  async load(): Promise<ClientRecord[]> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await chmod(this.#dir, 0o700);
    const bytes = await readNoFollow(this.file);
    if (bytes === undefined) return [];
    const parsed = ClientFile.safeParse(safeJson(bytes.toString('utf8')));
    if (parsed.success) return parsed.data.clients;
    const aside = `${this.file}.broken-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    await rename(this.file, aside);
    this.#aside = aside;
    this.#logger.error({ aside: path.basename(aside) }, 'mcp: clients.json cannot be read and was set aside; connect hosts again');
    return [];
  }

  async save(clients: readonly ClientRecord[]): Promise<void> {
    await writeFileAtomic(this.file, `${JSON.stringify({ schema: 1, clients }, null, 2)}\n`, { mode: 0o600 });
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
