import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type AccessLevel, AmbientError, type McpClient, Scope, type Toolset } from '@ambient/contract';
import { sinceTime } from '../library/dates.js';
import { type Clock, isoWithOffset } from '../platform/clock.js';
import type { ClientRecord, ClientStore } from './client-store.js';

export const TOKEN_PREFIX = 'amb_';
/** A client that was not used for this long has to be connected again. */
export const UNUSED_DAYS = 90;
/** Clients that may exist at once, revoked ones included. */
const MAX_CLIENTS = 500;
/** The time of last use is written to disk at most this often, ms. */
const TOUCH_MS = 60_000;
const DAY_MS = 86_400_000;

export interface NewClient {
  readonly name: string;
  readonly host?: string | null | undefined;
  readonly access: AccessLevel;
  readonly toolsets: readonly Toolset[];
  readonly scope?: Scope | undefined;
}

export interface ClientChange {
  readonly access?: AccessLevel | undefined;
  readonly toolsets?: readonly Toolset[] | undefined;
  readonly scope?: Scope | undefined;
  readonly name?: string | undefined;
}

/** Why a token opens nothing. */
export type AuthFailure = 'wrong_token' | 'revoked' | 'expired' | 'disabled';

interface RegistryDeps {
  readonly store: ClientStore;
  readonly clock: Clock;
  /** Called after a client changed; `revoked` or disabled clients are to be cut off. */
  readonly onChange: (record: Readonly<ClientRecord>) => void;
}

/** Everyone who may connect. Holds no token, only hashes; every change is on disk before it is reported. */
export class ClientRegistry {
  readonly #deps: RegistryDeps;
  #clients: ClientRecord[] = [];
  #saved: Promise<void> = Promise.resolve();
  #touchedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#clients = await this.#deps.store.load();
  }

  /** The file of a list that could not be read at the start: nobody in it has access. */
  get setAside(): string | undefined {
    return this.#deps.store.aside;
  }

  async stop(): Promise<void> {
    await this.#saved.catch(() => undefined);
    await this.#save();
  }

  /** The client a token belongs to. Every stored hash is compared, so that the time taken says nothing. */
  authenticate(token: string): { readonly record: Readonly<ClientRecord> } | { readonly failure: AuthFailure } {
    const hash = sha256(token);
    let found: ClientRecord | undefined;
    for (const record of this.#clients) if (timingSafeEqual(hash, Buffer.from(record.token_sha256, 'hex'))) found = record;
    if (found === undefined) return { failure: 'wrong_token' };
    if (found.revoked_at !== null) return { failure: 'revoked' };
    if (this.#expiresAt(found) <= this.#deps.clock.now()) return { failure: 'expired' };
    if (found.access === 'disabled') return { failure: 'disabled' };
    return { record: found };
  }

  /** The current record of a client that may still use its connection. */
  current(id: string): Readonly<ClientRecord> | undefined {
    const record = this.#clients.find((client) => client.id === id);
    return record === undefined || record.revoked_at !== null || record.access === 'disabled' ? undefined : record;
  }

  /** Notes that a client was used. Cheap; reaches the disk within a minute or at `stop`. */
  touch(id: string): void {
    const record = this.#clients.find((client) => client.id === id);
    if (record === undefined) return;
    record.last_used_at = isoWithOffset(this.#deps.clock.now());
    const now = this.#deps.clock.monotonicMs();
    if (now - this.#touchedMs < TOUCH_MS) return;
    this.#touchedMs = now;
    void this.#save().catch(() => undefined);
  }

  list(connections: (id: string) => number): McpClient[] {
    return this.#clients.map((record) => this.#view(record, connections(record.id)));
  }

  /** @returns the client and its token, which is shown this once and kept nowhere */
  async create(init: NewClient): Promise<{ client: McpClient; token: string }> {
    this.#prune();
    if (this.#clients.length >= MAX_CLIENTS)
      throw new AmbientError(
        'conflict',
        `There are ${MAX_CLIENTS} clients already.`,
        'Revoke those that are not used: `ambientctl mcp list`.',
      );
    const token = TOKEN_PREFIX + randomBytes(32).toString('base64url');
    const record: ClientRecord = {
      id: randomBytes(6).toString('hex'),
      name: init.name,
      host: init.host ?? null,
      access: init.access,
      toolsets: [...new Set(init.toolsets)],
      scope: checkedScope(init.scope),
      created_at: isoWithOffset(this.#deps.clock.now()),
      last_used_at: null,
      revoked_at: null,
      token_sha256: sha256(token).toString('hex'),
    };
    this.#clients.push(record);
    try {
      await this.#save();
    } catch (error) {
      this.#clients = this.#clients.filter((client) => client !== record);
      throw error;
    }
    return { client: this.#view(record, 0), token };
  }

  async set(id: string, change: ClientChange, connections: (id: string) => number): Promise<McpClient> {
    const record = this.#find(id);
    if (record.revoked_at !== null)
      throw new AmbientError('conflict', `The client ${record.name} is revoked.`, 'Make a new one with `ambientctl mcp token create`.');
    if (change.access !== undefined) record.access = change.access;
    if (change.toolsets !== undefined) record.toolsets = [...new Set(change.toolsets)];
    if (change.scope !== undefined) record.scope = checkedScope(change.scope);
    if (change.name !== undefined) record.name = change.name;
    // Access is narrowed at once; whether the disk can keep it is the caller's error, not the client's chance.
    this.#deps.onChange(record);
    await this.#save();
    return this.#view(record, connections(record.id));
  }

  async revoke(id: string): Promise<McpClient> {
    const record = this.#find(id);
    record.revoked_at ??= isoWithOffset(this.#deps.clock.now());
    this.#deps.onChange(record);
    await this.#save();
    return this.#view(record, 0);
  }

  /** By id, or by a name that only one unrevoked client has. */
  #find(id: string): ClientRecord {
    const exact = this.#clients.find((client) => client.id === id);
    if (exact !== undefined) return exact;
    const named = this.#clients.filter((client) => client.name === id && client.revoked_at === null);
    const [only] = named;
    if (only !== undefined && named.length === 1) return only;
    if (named.length > 1)
      throw new AmbientError('ambiguous', `${named.length} clients are called ${id}.`, 'Give the id from `ambientctl mcp list`.');
    throw new AmbientError('not_found', `There is no MCP client ${id}.`, '`ambientctl mcp list` shows them all.');
  }

  #view(record: ClientRecord, connections: number): McpClient {
    const { token_sha256: _hash, ...shown } = record;
    return { ...shown, expires_at: isoWithOffset(this.#expiresAt(record)), connections };
  }

  #expiresAt(record: ClientRecord): Date {
    return new Date(Date.parse(record.last_used_at ?? record.created_at) + UNUSED_DAYS * DAY_MS);
  }

  /** Revoked clients are remembered as long as an unused one would live, so that their tokens are told why they fail. */
  #prune(): void {
    const oldest = this.#deps.clock.now().getTime() - UNUSED_DAYS * DAY_MS;
    this.#clients = this.#clients.filter((client) => client.revoked_at === null || Date.parse(client.revoked_at) > oldest);
  }

  #save(): Promise<void> {
    const save = this.#saved.catch(() => undefined).then(() => this.#deps.store.save(this.#clients));
    this.#saved = save;
    save.catch(() => undefined);
    return save;
  }
}

function sha256(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** @throws AmbientError `bad_request` when `since` is no date */
function checkedScope(scope: Scope | undefined): Scope {
  const checked = Scope.parse(scope ?? {});
  if (checked.since !== null) sinceTime(checked.since);
  return checked;
}
