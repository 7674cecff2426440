import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError, SESSION_SCHEMA, type SessionFile, type SessionSummary } from '@ambient/contract';
import type { Bus } from '../platform/bus.js';
import { type Clock, isoWithOffset, localMinute } from '../platform/clock.js';
import { isPlainSegment, syncDirectory } from '../platform/files.js';
import type { Logger } from '../platform/logger.js';
import { asDiskFull, DIR_MODE, TEMPORARY_NAME } from './atomic-file.js';
import { DeletedIds } from './deleted-ids.js';
import { FileSession, type SessionDeps } from './file-session.js';
import { checkFolder, findFolder, holdsSession } from './folder-check.js';
import { resolveSession } from './resolve.js';
import { writeSessionFile } from './session-file.js';
import { idTime, sessionIds } from './session-id.js';
import { placeInTime, SummaryCache } from './summary-cache.js';
import type { NewSession, SessionStore } from './types.js';

const TRASH = '.trash-';

export interface SessionStoreDeps {
  /** The folder that holds session folders; made when it is missing. */
  readonly dir: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sessions as folders under one directory. What others put there or take away is seen at the next call. */
export class FileSessionStore implements SessionStore {
  readonly dir: string;
  readonly logger: Logger;
  readonly #deps: SessionStoreDeps;
  readonly #sessionDeps: SessionDeps;
  readonly #summaries: SummaryCache;
  /** One instance a folder for as long as anyone holds it; idle ones cost no memory. */
  readonly #open = new Map<string, WeakRef<FileSession>>();
  readonly #opening = new Map<string, Promise<FileSession>>();
  readonly #gone = new FinalizationRegistry<string>((id) => {
    if (this.#open.get(id)?.deref() === undefined) this.#open.delete(id);
  });
  /** Sessions being captured: held, because they are what says that the recording is this process's own. */
  readonly #capturing = new Set<FileSession>();
  readonly #deleted: DeletedIds;
  #lastMinute: { readonly minute: string; readonly attempt: number } | undefined;

  constructor(deps: SessionStoreDeps) {
    this.dir = deps.dir;
    this.logger = deps.logger;
    this.#deps = deps;
    this.#deleted = new DeletedIds(deps.dir, deps.clock);
    this.#summaries = new SummaryCache(deps.dir, async (id, touched) => {
      const session = await this.get(id);
      // Somebody else wrote to it: what they damaged is on its row as a warning.
      if (touched) await session.rawLines();
      return session.summary();
    });
    this.#sessionDeps = { bus: deps.bus, clock: deps.clock, logger: deps.logger, changed: (id) => this.#summaries.forget(id) };
  }

  /** Makes the folder, removes what a crash left of deletions and of sessions never begun, and finishes unfinished strikes. */
  async start(): Promise<void> {
    await this.prepare();
    await chmod(this.dir, DIR_MODE).catch(() => {});
    await this.#deleted.load();
    for (const entry of await readdir(this.dir, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      if (entry.name.startsWith(TRASH)) await rm(path.join(this.dir, entry.name), { recursive: true, force: true });
      else if (idTime(entry.name) !== undefined) await this.#removeNeverBegun(path.join(this.dir, entry.name));
    }
    // Reading every row opens every changed session, which finishes its strikes.
    await this.list();
  }

  async prepare(): Promise<void> {
    try {
      await mkdir(this.dir, { recursive: true, mode: DIR_MODE });
    } catch (error) {
      throw asDiskFull(error);
    }
  }

  /** Waits for writes under way. */
  async stop(): Promise<void> {
    await Promise.all([...this.#open.values()].map((ref) => ref.deref()?.idle()));
  }

  async create(init: NewSession): Promise<FileSession> {
    const sortedAt = init.isNewest === true ? await this.#placeAfterAll(init.startedAt) : undefined;
    const dir = await this.#makeFolder(init.startedAt);
    const id = path.basename(dir);
    const session = await this.#opens(id, this.#begin(dir, init, sortedAt));
    // Whoever listed meanwhile saw half a session.
    this.#summaries.forget(id);
    this.#deps.bus.emit({ type: 'session', session: await session.summary() });
    return session;
  }

  async get(id: string): Promise<FileSession> {
    const dir = await checkFolder(this.dir, id);
    const known = this.#open.get(id)?.deref();
    if (known) {
      await known.refresh();
      return known;
    }
    return this.#opening.get(id) ?? this.#opens(id, FileSession.open(dir, this.#sessionDeps));
  }

  resolve(arg: string): Promise<string> {
    return resolveSession(this, arg);
  }

  list(): Promise<readonly SessionSummary[]> {
    return this.ids().then((ids) => this.#summaries.list(ids));
  }

  async ids(): Promise<readonly string[]> {
    return (await this.#folders()).ids;
  }

  async strays(): Promise<readonly string[]> {
    return (await this.#folders()).strays;
  }

  async summary(id: string): Promise<SessionSummary> {
    await findFolder(this.dir, id);
    return this.#summaries.get(id);
  }

  fingerprint(id: string): Promise<string> {
    return this.#summaries.fingerprint(id);
  }

  async remove(id: string): Promise<void> {
    const dir = await findFolder(this.dir, id);
    const session = await this.get(id).catch(() => undefined);
    if (session?.live) {
      throw new AmbientError('conflict', `session ${id} is being recorded`, 'Stop it first with `ambientctl stop`.');
    }
    const trash = path.join(this.dir, `${TRASH}${randomBytes(8).toString('hex')}`);
    const away = async () => {
      await rename(dir, trash);
      await syncDirectory(this.dir);
    };
    await (session ? session.detach(away) : away());
    this.#open.delete(id);
    this.#summaries.forget(id);
    await this.#deleted.add(id);
    this.#deps.bus.emit({ type: 'removed', session: id });
    await rm(trash, { recursive: true, force: true });
  }

  async removeAudio(id: string): Promise<number> {
    const session = await this.get(id);
    if (session.state !== 'done' && session.state !== 'interrupted') {
      throw new AmbientError(
        'conflict',
        `the transcript of session ${id} is not complete; its audio is still needed`,
        'Try again when `ambientctl sessions` shows it as done.',
      );
    }
    return session.deleteAudio();
  }

  async #folders(): Promise<{ ids: string[]; strays: string[] }> {
    const entries = await readdir(this.dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      // Moved or removed as a whole: status warns of it.
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const [ids, strays]: [string[], string[]] = [[], []];
    for (const { name } of entries.filter((entry) => entry.isDirectory() && isPlainSegment(entry.name)))
      (idTime(name) !== undefined || (await holdsSession(path.join(this.dir, name))) ? ids : strays).push(name);
    return { ids: ids.sort().reverse(), strays: strays.sort() };
  }

  /** Makes everyone who asks for `id` meanwhile wait for, and get, this one instance. */
  #opens(id: string, opened: Promise<FileSession>): Promise<FileSession> {
    const opening = opened
      .then((session) => {
        this.#open.set(id, new WeakRef(session));
        this.#gone.register(session, id);
        return session;
      })
      .finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  async #begin(dir: string, init: NewSession, sortedAt: Date | undefined): Promise<FileSession> {
    const state = init.state ?? (init.origin === 'live' ? 'live' : 'pending');
    try {
      await mkdir(path.join(dir, 'audio'), { mode: DIR_MODE });
      const file = newSessionFile(path.basename(dir), init, state);
      await writeSessionFile(dir, sortedAt === undefined ? file : { ...file, sorted_at: isoWithOffset(sortedAt) });
      await syncDirectory(this.dir);
    } catch (error) {
      // A start that failed leaves no ghost in the list.
      await rm(dir, { recursive: true, force: true });
      throw asDiskFull(error);
    }
    const session = await FileSession.open(dir, this.#sessionDeps, state === 'live');
    for (const other of this.#capturing) if (!other.live) this.#capturing.delete(other);
    if (session.live) this.#capturing.add(session);
    return session;
  }

  /** Where a session that begins now has to stand in lists, when its start alone would put it behind an earlier one. */
  async #placeAfterAll(startedAt: Date): Promise<Date | undefined> {
    const [newest] = await this.list();
    const last = newest === undefined ? 0 : placeInTime(newest);
    return last > startedAt.getTime() ? new Date(last + 1) : undefined;
  }

  /** `mkdir` is what makes an id ours: two sessions of one minute never share a folder. */
  async #makeFolder(startedAt: Date): Promise<string> {
    await this.prepare();
    const minute = localMinute(startedAt);
    const after = this.#lastMinute?.minute === minute ? this.#lastMinute.attempt : 0;
    for (const { id, attempt } of sessionIds(startedAt, after)) {
      if (this.#deleted.has(id)) continue;
      try {
        await mkdir(path.join(this.dir, id), { mode: DIR_MODE });
        this.#lastMinute = { minute, attempt };
        return path.join(this.dir, id);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw asDiskFull(error);
      }
    }
    throw new AmbientError('conflict', `there are too many sessions in the minute ${minute}`, 'Try again in a minute.');
  }

  /** Removes a folder that holds nothing but an empty audio folder: a start that was killed before anything was kept. */
  async #removeNeverBegun(dir: string): Promise<void> {
    const names = await readdir(dir);
    if (!names.every((name) => name === 'audio' || TEMPORARY_NAME.test(name))) return;
    const audio = await readdir(path.join(dir, 'audio')).catch(() => []);
    if (audio.length > 0) return;
    for (const name of names.filter((name) => name !== 'audio')) await rm(path.join(dir, name), { force: true });
    // rmdir refuses what is not empty, should anything have come meanwhile.
    await rmdir(path.join(dir, 'audio')).catch(() => {});
    await rmdir(dir).catch(() => {});
  }
}

function newSessionFile(id: string, init: NewSession, state: SessionFile['state']): SessionFile {
  return {
    schema: SESSION_SCHEMA,
    id,
    name: init.name,
    state,
    origin: init.origin,
    source_file: init.sourceFile ?? null,
    started_at: isoWithOffset(init.startedAt),
    ended_at: null,
    duration_s: null,
    tracks: init.tracks,
    model: init.model,
    language: null,
    interrupted_at: null,
    transcribed_at: null,
    audio_deleted_at: null,
    warnings: [],
    coverage: [],
    tags: [],
    notes: '',
    pinned: false,
  };
}
