import { cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../platform/logger.js';
import { FileSessionStore } from './file-session-store.js';
import { line, newSession, openStoreKit, START, type StoreKit, writeAudio } from './test-kit.js';

let kit: StoreKit;
beforeEach(async () => {
  kit = await openStoreKit();
});
afterEach(() => kit.remove());

const clockAt = (now: Date) => ({ now: () => now, monotonicMs: () => 0 });
const minutes = (n: number) => new Date(START.getTime() + n * 60_000);
async function finished(name: string | null = null, at = 0) {
  const session = await kit.store.create(newSession({ name, startedAt: minutes(at) }));
  await writeAudio(session.audioDir, 'room', 1);
  await session.appendLine(line('room', 0, 1, 'hello'));
  await session.update((draft) => {
    draft.state = 'transcribing';
    draft.ended_at = draft.started_at;
    draft.duration_s = 1;
  });
  await session.complete();
  return session;
}

describe('ids', () => {
  test('two sessions of one minute never share a folder, and ids sort in the order of creation', async () => {
    const sessions = await Promise.all(Array.from({ length: 130 }, () => kit.store.create(newSession())));
    const ids = sessions.map((session) => session.id);
    expect(new Set(ids).size).toBe(130);
    expect(ids.toSorted()[0]).toMatch(/^2026-1\d-\d\dT\d{4}$/);
    expect(ids.toSorted()[1]).toMatch(/T\d{4}-02$/);
    const next = await kit.store.create(newSession());
    expect([...ids, next.id].toSorted().at(-1)).toBe(next.id);
  });

  test('of a deleted session is not used again, by a later daemon neither', async () => {
    const first = await finished();
    await kit.store.remove(first.id);
    const second = await finished();
    await kit.store.remove(second.id);
    const { id } = await (await kit.restart()).create(newSession());
    expect([first.id, second.id, id]).toEqual([first.id, `${first.id}-02`, `${first.id}-03`]);
    // A day later nobody could get them any more, and they are forgotten.
    const later = new FileSessionStore({ dir: kit.dir, bus: kit.bus, clock: clockAt(minutes(2 * 24 * 60)), logger: silentLogger() });
    await later.start();
    expect(await readdir(kit.dir)).toEqual([id]);
  });

  test('an id taken by something else on disk is passed over', async () => {
    const { id } = await kit.store.create(newSession());
    const other = await kit.restart();
    await writeFile(path.join(kit.dir, `${id}-02`), 'a file');
    expect((await other.create(newSession())).id).toBe(`${id}-03`);
  });
});

describe('list', () => {
  test('shows the newest first by start time, with what each session is', async () => {
    await finished('first', 0);
    const live = await kit.store.create(newSession({ startedAt: minutes(5) }));
    await finished('second', 2);
    const rows = await kit.store.list();
    expect(rows.map((row) => [row.name, row.state, row.live, row.transcribed, row.has_audio])).toEqual([
      [null, 'live', true, false, false],
      ['second', 'done', false, true, true],
      ['first', 'done', false, true, true],
    ]);
    expect(rows[0]?.dir).toBe(live.dir);
  });

  test('shows a folder copied in by hand, under its own name, and forgets one that was taken away', async () => {
    const session = await finished('mine');
    await kit.store.list();
    await cp(session.dir, path.join(kit.dir, 'Kopie von früher'), { recursive: true });
    const rows = await kit.store.list();
    expect(rows.map((row) => row.id).toSorted()).toEqual([session.id, 'Kopie von früher'].toSorted());
    expect((await kit.store.get('Kopie von früher')).file.id).toBe('Kopie von früher');
    await rm(session.dir, { recursive: true });
    expect((await kit.store.list()).map((row) => row.id)).toEqual(['Kopie von früher']);
    await expect(kit.store.get(session.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a recording left live by a crash or copied in as such is not shown as being recorded', async () => {
    const { id } = await kit.store.create(newSession());
    const [row] = await (await kit.restart()).list();
    expect(row).toMatchObject({ id, live: false, state: 'pending' });
  });

  test.each([
    ['is missing', async (dir: string) => rm(path.join(dir, 'session.json'))],
    ['is not valid JSON', async (dir: string) => writeFile(path.join(dir, 'session.json'), '{"schema": 1,')],
    ['is damaged: started_at', async (dir: string) => writeFile(path.join(dir, 'session.json'), await without(dir, 'started_at'))],
    [
      'made by a newer version of Ambient (schema 2',
      async (dir: string) => writeFile(path.join(dir, 'session.json'), await without(dir, 'state', { schema: 2 })),
    ],
  ])('a session whose session.json %s is shown as broken with the reason', async (words, spoil) => {
    const session = await finished();
    await spoil(session.dir);
    const store = await kit.restart();
    const [row] = await store.list();
    expect(row).toMatchObject({ id: session.id, state: 'broken', live: false });
    expect(row?.error).toContain(words);
    expect(await store.summary(session.id)).toEqual(row);
    await expect(store.get(session.id)).rejects.toThrow(words);
  });

  test('a session of a newer version is refused with its reason and never rewritten', async () => {
    const session = await finished();
    const file = path.join(session.dir, 'session.json');
    await writeFile(file, await without(session.dir, 'none', { schema: 2 }));
    const before = await readFile(file, 'utf8');
    await expect(session.update((draft) => draft.tags.push('x'))).rejects.toMatchObject({ code: 'too_new' });
    await expect((await kit.restart()).get(session.id)).rejects.toMatchObject({ code: 'too_new', hint: expect.stringContaining('Update') });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('links, dot folders and files are not sessions', async () => {
    const { id, dir } = await finished();
    await symlink(dir, path.join(kit.dir, 'link'));
    await mkdir(path.join(kit.dir, '.hidden'));
    await writeFile(path.join(kit.dir, 'file'), '');
    await mkdir(path.join(kit.dir, 'zz of the user'));
    expect(await kit.store.ids()).toEqual([id]);
    expect(await kit.store.resolve('last')).toBe(id);
    expect((await kit.store.list()).map((row) => row.id)).toEqual([id]);
  });

  test('a change of our own is in the next list at once, one by others when it is time to look again', async () => {
    const session = await finished('old');
    const other = await finished('theirs', 1);
    const now = vi.spyOn(performance, 'now');
    try {
      // Looking took 1 ms, so it is not done again for the next 20.
      now
        .mockReturnValueOnce(1e9)
        .mockReturnValueOnce(1e9 + 1)
        .mockReturnValue(1e9 + 2);
      await kit.store.list();
      await writeFile(path.join(other.dir, 'session.json'), await without(other.dir, 'none', { name: 'changed by hand' }));
      await session.update((draft) => {
        draft.name = 'new';
      });
      await session.appendEdit({ op: 'name', track: 'room', speaker: 'Ana' });
      expect((await kit.store.list()).map((row) => [row.name, row.speakers])).toEqual([['theirs', []], ['new', ['Ana']]]); // biome-ignore format: a table
      now.mockReturnValue(1e9 + 22);
      expect((await kit.store.list()).map((row) => row.name)).toEqual(['changed by hand', 'new']);
    } finally {
      now.mockRestore();
    }
  });
});

describe('get', () => {
  test('refuses anything but one plain segment before the disk is touched', async () => {
    await mkdir(path.join(kit.dir, '..', 'outside'));
    const hostile = fc.oneof(
      fc.constantFrom('', '.', '..', '../outside', '..\\outside', '/etc', 'a/b', './x', 'x/..', '.hidden', 'a\0b', 'a\nb', 'x'.repeat(300)),
      fc.tuple(fc.string(), fc.constantFrom('/', '\\', '\0', '\x7f'), fc.string()).map((parts) => parts.join('')),
      fc.string().map((text) => `.${text}`),
    );
    const moved = path.join(kit.dir, '..', 'moved');
    await rename(kit.dir, moved);
    await fc.assert(
      fc.asyncProperty(hostile, async (id) => {
        await expect(kit.store.get(id)).rejects.toMatchObject({ code: 'bad_request' });
        await expect(kit.store.resolve(id)).rejects.toMatchObject({ code: 'bad_request' });
        await expect(kit.store.remove(id)).rejects.toMatchObject({ code: 'bad_request' });
      }),
      { numRuns: 500 },
    );
  });

  test('says in the contract’s words what is not there and what is a link', async () => {
    const { dir } = await finished();
    await symlink(dir, path.join(kit.dir, 'link'));
    await expect(kit.store.get('nope')).rejects.toMatchObject({ code: 'not_found', message: 'no session nope' });
    await expect(kit.store.get('link')).rejects.toMatchObject({ code: 'refused_symlink', message: 'refusing symlink link' });
  });

  test.each(['session.json', 'raw.jsonl', 'edits.jsonl', 'transcript.md', 'assistant.jsonl', 'audio', 'audio/room.wav'])(
    'refuses a session in which %s is a link, also one that was open before',
    async (name) => {
      const session = await finished();
      const outside = path.join(kit.dir, '..', 'outside');
      const file = path.join(session.dir, name);
      await rename(file, outside).catch(() => writeFile(outside, 'secret'));
      await symlink(outside, file);
      const message = `refusing symlink ${path.basename(name)}`;
      await expect(kit.store.get(session.id)).rejects.toMatchObject({ code: 'refused_symlink', message });
      const store = await kit.restart();
      await expect(store.get(session.id)).rejects.toMatchObject({ code: 'refused_symlink', message });
      expect((await store.list())[0]).toMatchObject({ state: 'broken', error: message });
    },
  );

  test('gives everyone the same instance', async () => {
    const { id } = await finished();
    const store = await kit.restart();
    const [a, b] = await Promise.all([store.get(id), store.get(id)]);
    expect(a).toBe(b);
  });
});

describe('resolve', () => {
  test('takes an id, the unique beginning of one, last, live, or an exact name', async () => {
    const first = await finished('Stand-up', 0);
    const second = await finished('会議 🎉', 1);
    await expect(kit.store.resolve('live')).rejects.toMatchObject({ code: 'not_found' });
    expect(await kit.store.resolve('last')).toBe(second.id);
    const live = await kit.store.create(newSession({ startedAt: minutes(2) }));
    expect(await kit.store.resolve('live')).toBe(live.id);
    expect(await kit.store.resolve('last')).toBe(live.id);
    expect(await kit.store.resolve(first.id)).toBe(first.id);
    expect(await kit.store.resolve('Stand-up')).toBe(first.id);
    expect(await kit.store.resolve('会議 🎉'.normalize('NFD'))).toBe(second.id);
    const error = await kit.store.resolve('2026-').catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'ambiguous', message: expect.stringContaining(first.id) });
    await expect(kit.store.resolve('stand-up')).rejects.toMatchObject({ code: 'not_found', message: 'no session stand-up' });
  });

  test('an id in full wins over ids that begin with it', async () => {
    const first = await kit.store.create(newSession());
    await kit.store.create(newSession());
    expect(await kit.store.resolve(first.id)).toBe(first.id);
  });

  test('two sessions of one name are told apart by naming both', async () => {
    const ids = [(await finished('same', 0)).id, (await finished('same', 1)).id];
    const error = await kit.store.resolve('same').catch((e: Error) => e);
    expect(error).toMatchObject({ code: 'ambiguous' });
    for (const id of ids) expect((error as Error).message).toContain(id);
  });

  test('says what to do when there is nothing', async () => {
    await expect(kit.store.resolve('last')).rejects.toMatchObject({ code: 'not_found', hint: expect.stringContaining('ambientctl start') });
  });
});

describe('deleting', () => {
  test('takes the whole folder, tells so, and refuses writes that come late', async () => {
    const session = await finished();
    await kit.store.remove(session.id);
    expect(await readdir(kit.dir)).toEqual(['.deleted']);
    expect(kit.events.at(-1)).toEqual({ type: 'removed', session: session.id });
    await expect(session.appendLine(line('room', 1, 2, 'late'))).rejects.toMatchObject({ code: 'not_found' });
    await expect(session.update((draft) => draft.tags.push('x'))).rejects.toMatchObject({ code: 'not_found' });
    expect(await readdir(kit.dir)).toEqual(['.deleted']);
    await expect(kit.store.remove(session.id)).rejects.toMatchObject({ code: 'not_found', message: `no session ${session.id}` });
  });

  test('is refused for the recording that runs', async () => {
    const live = await kit.store.create(newSession());
    await expect(kit.store.remove(live.id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await kit.store.ids()).toEqual([live.id]);
  });

  test('works on a broken session and never follows a link out of it', async () => {
    const session = await finished();
    const outside = path.join(kit.dir, '..', 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'kept'), '');
    await rm(path.join(session.dir, 'session.json'));
    await symlink(outside, path.join(session.dir, 'link'));
    await kit.store.remove(session.id);
    expect(await kit.store.ids()).toEqual([]);
    expect(await readdir(outside)).toEqual(['kept']);
  });

  test('that a kill cut is finished at the next start', async () => {
    const session = await finished();
    await rename(session.dir, path.join(kit.dir, '.trash-0011'));
    const store = await kit.restart();
    expect(await store.list()).toEqual([]);
    expect(await readdir(kit.dir)).toEqual([]);
  });

  test('audio alone leaves the text, and is refused while it is still needed', async () => {
    const session = await finished();
    expect(await kit.store.removeAudio(session.id)).toBe(32_044);
    expect(session.file.audio_deleted_at).not.toBeNull();
    expect((await kit.store.list())[0]).toMatchObject({ has_audio: false, state: 'done' });
    expect(await session.lineCount()).toBe(1);
    expect(await kit.store.removeAudio(session.id)).toBe(0);
    const waiting = await kit.store.create(newSession({ state: 'pending' }));
    await writeAudio(waiting.audioDir, 'room', 1);
    await expect(kit.store.removeAudio(waiting.id)).rejects.toMatchObject({ code: 'conflict' });
    expect((await stat(path.join(waiting.audioDir, 'room.wav'))).size).toBe(32_044);
  });
});

test('what a kill in the middle of a start left behind is no session; any other folder is left alone', async () => {
  const id = '2026-11-30T1700';
  await mkdir(path.join(kit.dir, id, 'audio'), { recursive: true });
  await writeFile(path.join(kit.dir, id, 'session.json.123456'), '{');
  await mkdir(path.join(kit.dir, 'empty folder of the user'));
  await mkdir(path.join(kit.dir, '2026-11-30T1701', 'audio'), { recursive: true });
  await writeFile(path.join(kit.dir, '2026-11-30T1701', 'audio', 'room.wav'), 'x');
  const store = await kit.restart();
  expect(await store.ids()).toEqual(['2026-11-30T1701']);
  expect(await store.strays()).toEqual(['empty folder of the user']);
  // With any part of a session in it, it is one that is broken.
  await writeFile(path.join(kit.dir, 'empty folder of the user', 'raw.jsonl'), '');
  expect(await store.ids()).toEqual(['empty folder of the user', '2026-11-30T1701']);
});

async function without(dir: string, key: string, more: object = {}): Promise<string> {
  const file = JSON.parse(await readFile(path.join(dir, 'session.json'), 'utf8'));
  delete file[key];
  return JSON.stringify({ ...file, ...more });
}

describe('the folder of the sessions', () => {
  test('that was moved away leaves an empty list, and the next session makes it again', async () => {
    await finished('away');
    await rename(kit.dir, `${kit.dir}-moved`);
    expect(await kit.store.list()).toEqual([]);
    await expect(kit.store.resolve('last')).rejects.toMatchObject({ code: 'not_found' });
    const { id } = await kit.store.create(newSession());
    expect(await kit.store.ids()).toEqual([id]);
  });
});
