import { AmbientError, type LiveStatus, type Scope, type SessionSummary } from '@ambient/contract';
import type { Recorder } from '../capture/types.js';
import { isPlainSegment } from '../platform/files.js';
import type { Session, SessionStore } from '../sessions/types.js';
import { inScope, isUnlimited } from './scope.js';

/** The sessions one client may know of. What is outside its scope is as good as absent. */
export class ScopedSessions {
  readonly #store: SessionStore;
  readonly #recorder: Recorder;
  readonly #scope: () => Scope;

  /** @param scope asked for on every use, because the user may change it while a call waits */
  constructor(store: SessionStore, recorder: Recorder, scope: () => Scope) {
    this.#store = store;
    this.#recorder = recorder;
    this.#scope = scope;
  }

  get scope(): Scope {
    return this.#scope();
  }

  get unlimited(): boolean {
    return isUnlimited(this.scope);
  }

  /** Newest first, broken ones included. */
  async list(): Promise<readonly SessionSummary[]> {
    const all = await this.#store.list();
    return this.unlimited ? all : all.filter((session) => inScope(this.scope, session));
  }

  /**
   * One session by its exact id. An argument that is not one plain path segment is refused before the disk is touched.
   * @throws AmbientError `bad_request`, `not_found` (`no session X`), `refused_symlink` (`refusing symlink X`)
   */
  async open(id: string): Promise<Session> {
    this.#checkNamed(id);
    const session = await this.#store.get(id).catch((error: unknown) => this.#refuse(id, error));
    const { started_at, tags } = session.file;
    if (!inScope(this.scope, { id, started_at, tags })) throw noSession(id);
    return session;
  }

  /**
   * The row of one session by its exact id, also of one that cannot be read.
   * @throws AmbientError `bad_request`, `not_found`, `refused_symlink` when its folder is a link
   */
  async row(id: string): Promise<SessionSummary> {
    this.#checkNamed(id);
    const row = await this.#store.summary(id).catch((error: unknown) => this.#refuse(id, error));
    if (!inScope(this.scope, row)) throw noSession(id);
    return row;
  }

  /** True when the client may know of the session. */
  async admits(id: string): Promise<boolean> {
    if (this.unlimited) return true;
    return this.open(id).then(
      () => true,
      () => false,
    );
  }

  #checkNamed(id: string): void {
    if (!isPlainSegment(id)) throw new AmbientError('bad_request', `not a session id: ${JSON.stringify(id.slice(0, 80))}`);
    const { sessions } = this.scope;
    if (sessions.length > 0 && !sessions.includes(id)) throw noSession(id);
  }

  /** Says why a session cannot be read, but only where no tag and no start time was needed to let the client know of it. */
  #refuse(id: string, error: unknown): never {
    const { tags, since } = this.scope;
    if (tags.length > 0 || since !== null) throw noSession(id, error);
    if (!(error instanceof AmbientError)) throw error;
    if (error.code === 'not_found') throw noSession(id, error);
    if (error.code === 'refused_symlink') throw new AmbientError('refused_symlink', error.message, undefined, { cause: error });
    throw error;
  }

  /** True when there is such a session, readable or not, and the client may know of it. */
  exists(id: string): Promise<boolean> {
    return this.row(id).then(
      () => true,
      () => false,
    );
  }

  /** The recording in progress, when the client may know of it. */
  async live(): Promise<LiveStatus | null> {
    const live = this.#recorder.live();
    return live !== null && (await this.admits(live.id)) ? live : null;
  }
}

export function noSession(id: string, cause?: unknown): AmbientError {
  return new AmbientError('not_found', `no session ${id}`, undefined, { cause });
}
