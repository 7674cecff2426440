import { cp, mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type SearchQuery, SearchReply } from '@ambient/contract';
import SqliteDatabase from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../platform/logger.js';
import type { FileSession } from '../sessions/file-session.js';
import type { FileSessionStore } from '../sessions/file-session-store.js';
import { line, newSession, openStoreKit, START, type StoreKit, writeAudio } from '../sessions/test-kit.js';
import { INDEX_VERSION } from './migrations.js';
import { SqliteLibrary } from './sqlite-library.js';

let kit: StoreKit;
let library: SqliteLibrary;
let dbPath: string;
beforeEach(async () => {
  kit = await openStoreKit();
  dbPath = path.join(kit.dir, '..', 'library.db');
  library = await openLibrary();
});
afterEach(async () => {
  await library.stop();
  await kit.remove();
});

async function openLibrary(store: FileSessionStore = kit.store): Promise<SqliteLibrary> {
  const clock = { now: () => new Date('2026-11-30T17:00:00Z'), monotonicMs: () => performance.now() };
  const opened = new SqliteLibrary({ dbPath, store, bus: kit.bus, clock, logger: silentLogger() });
  await opened.start();
  return opened;
}

const query = (q: string, more: Partial<SearchQuery> = {}): SearchQuery => ({ q, limit: 20, offset: 0, ...more });
async function search(q: string, more: Partial<SearchQuery> = {}, allow?: (id: string) => boolean) {
  return SearchReply.parse(await library.search(query(q, more), allow));
}
/** Ids found, and the snippets of all matches. */
const ids = async (q: string, more: Partial<SearchQuery> = {}) => (await search(q, more)).sessions.map((session) => session.id);
const snippets = async (q: string, more: Partial<SearchQuery> = {}) =>
  (await search(q, more)).sessions.flatMap((session) => session.matches.map((match) => match.snippet));

let minute = 0;
async function talk(texts: readonly (string | [track: 'room' | 'call', text: string])[], name: string | null = null): Promise<FileSession> {
  const session = await kit.store.create(newSession({ name, startedAt: new Date(START.getTime() + 60_000 * minute++) }));
  for (const [i, text] of texts.entries()) {
    const [track, words] = typeof text === 'string' ? (['room', text] as const) : text;
    await session.appendLine(line(track, 10 * i, 10 * i + 2, words));
  }
  await session.update((draft) => {
    draft.state = 'done';
  });
  return session;
}

describe('what is found', () => {
  test('a word of a line, with where it stands', async () => {
    const { id } = await talk(['good morning', ['call', 'Did the backfill finish, Priya?']]);
    const reply = await search('BACKFILL');
    expect(reply).toMatchObject({ total: 1, has_more: false, unavailable: 0 });
    expect(reply.sessions[0]).toMatchObject({ id, state: 'done' });
    expect(reply.sessions[0]?.matches).toEqual([
      { segment: 2, start_ms: 10_000, track: 'call', speaker: null, snippet: 'Did the «backfill» finish, Priya?', field: 'text' },
    ]);
  });

  test('title, id, tags, notes, comments and speaker names', async () => {
    const session = await talk(['hello there', ['call', 'hello too']], 'Roadmap sync');
    await session.update((draft) => {
      draft.tags = ['customer', 'Zürich'];
      draft.notes = 'Remember the invoice.';
    });
    await session.appendEdit({ op: 'name', track: 'call', speaker: 'Priya Natarajan' });
    await session.appendEdit({ op: 'comment', segment: 1, text: 'check this greeting' });
    const field = async (q: string) => (await search(q)).sessions[0]?.matches.map((match) => [match.field, match.segment]);
    expect(await field('roadmap')).toEqual([['title', 0]]);
    expect(await field(session.id)).toEqual([['id', 0]]);
    expect(await field('zurich')).toEqual([['tag', 0]]);
    expect(await field('invoice')).toEqual([['notes', 0]]);
    expect(await field('natarajan')).toEqual([['speaker', 0]]);
    expect(await field('greeting')).toEqual([['comment', 1]]);
  });

  test.each([
    ['Grüße aus München', 'grusse'],
    ['Grüße aus München', 'MÜNCHEN'],
    ['café au lait'.normalize('NFD'), 'café'],
    ['Ο δρόμος της Οδύσσειας', 'ΔΡΌΜΟΣ'],
    ['Съешь ещё этих булок', 'ЕЩЁ'],
    ['הפגישה מחר בבוקר', 'מחר'],
    ['الاجتماع غدا صباحا', 'غدا'],
    ['अगली बैठक शुक्रवार को है', 'बैठक'],
    ['来週の会議室は三階です', '会議'],
    ['来週の会議室は三階です', '議室'],
    ['来週の会議室は三階です', '三'],
    ['来週の会議室は三階です', '会議室は三階'],
    ['我们下周讨论预算问题', '预算'],
    ['ミーティングはキャンセル', 'ティング'],
    ['다음 주 회의가 있습니다', '회의'],
    ['ประชุมวันศุกร์หน้า', 'ศุกร์'],
    ['𠮷野家で会いましょう', '𠮷野'],
    ['release 2.4.0 on 2026-11-30', '2.4.0'],
    ['ＦＵＬＬ ｗｉｄｔｈ', 'full'],
    ['launch party 🎉 tonight', '🎉'],
    ["don't panic", 'don’t'],
  ])('in %j: %j', async (text, q) => {
    const { id } = await talk([text]);
    await talk(['something else altogether']);
    expect(await ids(q)).toEqual([id]);
    expect((await snippets(q)).join()).toContain('«');
  });

  test('a part of a text without spaces only where it stands as such', async () => {
    await talk(['会社で議論した']);
    expect(await ids('会議')).toEqual([]);
    expect(await snippets('議論')).toEqual(['会社で«議論»した']);
  });

  test('the beginning of the last word; whole words otherwise', async () => {
    const { id } = await talk(['the migration plan']);
    expect(await ids('migr')).toEqual([id]);
    expect(await ids('the migr')).toEqual([id]);
    expect(await ids('migr plan')).toEqual([]);
    expect(await ids('"migr"')).toEqual([]);
  });

  test('all words in one line; when no line has them all, sessions that have each somewhere', async () => {
    const one = await talk(['the budget review is on Monday']);
    const spread = await talk(['the budget is final', 'nothing', 'a review of the code']);
    await talk(['only the budget']);
    expect(await ids('budget review')).toEqual([one.id]);
    expect(await ids('budget code')).toEqual([spread.id]);
    expect(await snippets('budget code')).toEqual(['the «budget» is final', 'a review of the «code»']);
    expect(await ids('budget absent')).toEqual([]);
  });

  test('a quoted phrase only in its order', async () => {
    const { id } = await talk(['we ship the new release']);
    await talk(['release the new ship']);
    expect(await ids('"the new release"')).toEqual([id]);
    expect(await snippets('"the new release"')).toEqual(['we ship «the new release»']);
    expect(await ids('new release')).toHaveLength(2);
  });

  test('newest session first, pages without overlap, at most five matches each', async () => {
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.push((await talk(Array.from({ length: 9 }, (_, k) => `penguin number ${k}`))).id);
    const pages = [
      await search('penguin', { limit: 3 }),
      await search('penguin', { limit: 3, offset: 3 }),
      await search('penguin', { limit: 3, offset: 6 }),
    ];
    expect(pages.flatMap((page) => page.sessions.map((session) => session.id))).toEqual(made.toReversed());
    expect(pages.map((page) => [page.total, page.has_more])).toEqual([[7, true], [7, true], [7, false]]); // biome-ignore format: a table
    expect(pages[0]?.sessions[0]?.matches.map((match) => match.segment)).toEqual([1, 2, 3, 4, 5]);
    expect(pages[0]?.sessions[0]?.match_count).toBe(9);
    // No line has both: every line with one of them counts, once.
    await talk(['a seal', 'a gull', 'a gull', 'a gull', 'a gull', 'a seal']);
    expect((await search('seal gull')).sessions[0]).toMatchObject({ match_count: 6, matches: { length: 5 } });
    expect(await search('penguin', { offset: 50 })).toMatchObject({ sessions: [], total: 7, has_more: false });
  });

  test('a long text is shown around the match', async () => {
    const session = await talk(['x']);
    await session.update((draft) => {
      draft.notes = `${'before '.repeat(100)}needle${' after'.repeat(100)}`;
    });
    const [shown] = await snippets('needle');
    expect(shown).toMatch(/^…before (before )+«needle»( after)+…$/);
    expect(shown?.length).toBeLessThan(170);
  });

  test('bleed is not found twice', async () => {
    await talk([]);
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0.3, 3.2, 'Did the backfill finish on Friday?'));
    await session.appendLine(line('call', 0, 3, 'Did the backfill finish on Friday?'));
    expect((await search('backfill')).sessions[0]?.matches.map((match) => match.track)).toEqual(['call']);
  });
});

describe('filters', () => {
  test('track and speaker limit it to lines', async () => {
    const session = await talk(['apple pie', ['call', 'apple juice'], ['call', 'pear juice']], 'apple talk');
    await session.appendEdit({ op: 'name', segments: [2], speaker: 'Zoë' });
    expect(await snippets('apple')).toEqual(['«apple» talk', '«apple» pie', '«apple» juice']);
    expect(await snippets('apple', { track: 'call' })).toEqual(['«apple» juice']);
    expect(await snippets('juice', { speaker: 'zoe' })).toEqual(['apple «juice»']);
    expect(await ids('pear', { speaker: 'Zoë' })).toEqual([]);
    expect(await ids('apple', { track: 'room', speaker: 'Zoë' })).toEqual([]);
    expect(await ids('pie juice', { track: 'call' })).toEqual([]);
  });

  test('tag, whatever its case', async () => {
    const session = await talk(['apple']);
    await talk(['apple']);
    await session.update((draft) => {
      draft.tags = ['Work', 'q4'];
    });
    expect(await ids('apple', { tag: 'work' })).toEqual([session.id]);
    expect(await ids('apple', { tag: 'wor' })).toEqual([]);
  });

  test('since and until: local days, whole; times; offsets', async () => {
    const at = async (time: Date) => {
      const session = await kit.store.create(newSession({ startedAt: time }));
      await session.appendLine(line('room', 0, 1, 'apple'));
      return session.id;
    };
    const before = await at(new Date(2026, 10, 29, 23, 59, 59));
    const first = await at(new Date(2026, 10, 30, 0, 0, 0));
    const last = await at(new Date(2026, 10, 30, 23, 59, 59));
    const after = await at(new Date(2026, 11, 1, 0, 0, 0));
    expect(await ids('apple', { since: '2026-11-30', until: '2026-11-30' })).toEqual([last, first]);
    expect(await ids('apple', { since: '2026-12-01' })).toEqual([after]);
    expect(await ids('apple', { until: '2026-11-29' })).toEqual([before]);
    expect(await ids('apple', { since: '2026-11-30T23:59:59', until: '2026-11-30 23:59:59' })).toEqual([last]);
    expect(await ids('apple', { since: new Date(2026, 11, 1).toISOString() })).toEqual([after]);
  });

  test.each(['yesterday', '2026-13-01', '2026-02-30', '30.11.2026', '', '2026-11-30T99:00', "2026-11-30'; DROP TABLE"])(
    '%j is no date, and the error shows one',
    async (bad) => {
      await expect(search('x', { since: bad })).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('2026-11-30') });
      await expect(search('x', { until: bad })).rejects.toMatchObject({ code: 'bad_request' });
    },
  );

  test('a scope hides sessions as if they were absent', async () => {
    const session = await talk(['apple']);
    const hidden = await talk(['apple']);
    await rm(path.join((await talk(['apple'])).dir, 'session.json'));
    const reply = await search('apple', {}, (id) => id === session.id);
    expect(reply.sessions.map((row) => row.id)).toEqual([session.id]);
    expect([reply.total, reply.unavailable]).toEqual([1, 0]);
    expect(await search('apple', {}, (id) => id === hidden.id)).toMatchObject({ total: 1 });
  });
});

describe('any query is safe', () => {
  test.each(['', ' ', '\n\t'])('%j is refused with what to do', async (q) => {
    await expect(search(q)).rejects.toMatchObject({ code: 'bad_request', hint: expect.stringContaining('ambientctl search') });
  });

  const odd = ['*', '-', '"', "'", '""', '/', '\0', 'NEAR(', 'a AND', 'OR', 'NOT x', 'terms:x', '^x', 'x*y', '(', '{a b}: c', '%', '\\'];
  const long = [['emojis', '💥'.repeat(500)], ['words', 'a '.repeat(500)], ['quotes', '"'.repeat(999)], ['CJK', '会議'.repeat(500)]]; // biome-ignore format: a table
  test.each([...odd.map((q) => [q, q]), ...long] as [string, string][])('%j is searched for as text', async (_, q) => {
    await talk(['plain words']);
    expect((await search(q)).unavailable).toBe(0);
  });

  test('whatever is typed, words of a line find it', async () => {
    const { id } = await talk(['Priya said 42 things about 会議 and naïveté']);
    const word = fc.constantFrom('Priya', 'said', '42', 'things', '会議', 'naïveté', 'naivete');
    const noise = fc.stringMatching(/^[\s*'/\\^(){}:+,.;!?%&|~<>\0-]*$/);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(noise, word), { minLength: 1, maxLength: 5 }), noise, async (parts, tail) => {
        const q = `${parts.map((part) => part.join('')).join(' ')} ${tail}`;
        expect(await ids(q)).toEqual([id]);
      }),
      { numRuns: 200 },
    );
  });

  test('no string makes it fail', async () => {
    await talk(['plain words']);
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.stringMatching(/^["*\-^: ()a-z]{1,40}$/),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (q) => {
        fc.pre(q.trim() !== '');
        await search(q);
        await search('plain', { speaker: q, tag: q });
      }),
      { numRuns: 300 },
    );
  });
});

describe('the index follows the sessions', () => {
  test('a line is found as soon as it is published, and a correction replaces it', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'the first werd'));
    expect(await ids('werd')).toEqual([session.id]);
    await session.appendEdit({ op: 'correct', segment: 1, text: 'the first word' });
    expect([await ids('werd'), await ids('word')]).toEqual([[], [session.id]]);
    await session.appendLine(line('room', 1, 2, 'another'));
    expect(await snippets('another')).toEqual(['«another»']);
  });

  test('struck speech is in no file of the index any more', async () => {
    const session = await talk(['keep this', 'xylophone zeppelin', 'keep that']);
    await writeAudio(session.audioDir, 'room', 30);
    for (let i = 0; i < 5; i++) await talk([`filler ${i}`]);
    expect(await ids('xylophone')).toEqual([session.id]);
    await session.strike({ fromMs: 9000, toMs: 13_000 });
    await library.index(session);
    expect([await ids('xylophone'), await ids('zepp'), await ids('keep this')]).toEqual([[], [], [session.id]]);
    const folder = path.dirname(dbPath);
    const files = (await readdir(folder)).filter((name) => name.startsWith('library.db'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      const bytes = (await readFile(path.join(folder, name))).toString('latin1');
      expect([bytes.includes('xylophone'), bytes.includes('ylophone'), bytes.includes('zeppelin')], name).toEqual([false, false, false]);
    }
  });

  test('only what changed is written', async () => {
    const session = await talk(Array.from({ length: 50 }, (_, i) => `line ${i}`));
    await library.sync();
    const changes = () => {
      const db = new SqliteDatabase(dbPath);
      const rows = db.prepare('SELECT count(*) AS n FROM entries').get() as { n: number };
      db.close();
      return rows.n;
    };
    const before = changes();
    await session.appendLine(line('room', 600, 601, 'one more'));
    await library.index(session);
    expect(changes()).toBe(before + 1);
    const size = (await stat(`${dbPath}-wal`)).size;
    await library.index(session);
    await library.index(session);
    expect((await stat(`${dbPath}-wal`)).size - size).toBeLessThan(20_000);
  });

  test('a deleted session is gone from it', async () => {
    const session = await talk(['apple']);
    expect(await ids('apple')).toEqual([session.id]);
    await kit.store.remove(session.id);
    await library.remove(session.id);
    expect(await ids('apple')).toEqual([]);
    await library.remove('never there');
  });

  test('folders copied in, changed or taken away by hand are noticed', async () => {
    const session = await talk(['apple']);
    expect(await ids('apple')).toEqual([session.id]);
    const copy = path.join(kit.dir, 'copy');
    await cp(session.dir, copy, { recursive: true });
    expect((await ids('apple')).toSorted()).toEqual([session.id, 'copy'].toSorted());
    // Files of a folder that is being copied in arrive after the folder.
    await mkdir(path.join(kit.dir, 'slow'));
    expect((await search('apple')).unavailable).toBe(0);
    for (const name of ['session.json', 'raw.jsonl']) await cp(path.join(session.dir, name), path.join(kit.dir, 'slow', name));
    expect((await ids('apple')).length).toBe(3);
    await rm(copy, { recursive: true });
    await rename(session.dir, path.join(kit.dir, '..', 'away'));
    expect(await ids('apple')).toEqual(['slow']);
  });

  test('what changed while the daemon was off is found after the next start', async () => {
    const session = await talk(['apple']);
    await library.sync();
    await library.stop();
    await session.appendLine(line('room', 20, 21, 'banana'));
    await talk(['cherry']);
    library = await openLibrary(await kit.restart());
    expect([await ids('banana'), (await ids('cherry')).length]).toEqual([[session.id], 1]);
  });

  test('a session that cannot be read is counted, not searched, and found again once it is mended', async () => {
    const session = await talk(['apple']);
    expect(await ids('apple')).toEqual([session.id]);
    const file = path.join(session.dir, 'session.json');
    const good = await readFile(file);
    await writeFile(file, '{');
    await library.sync();
    expect(await search('apple')).toMatchObject({ sessions: [], total: 0, unavailable: 1 });
    await writeFile(file, good);
    await library.sync();
    expect(await search('apple')).toMatchObject({ total: 1, unavailable: 0 });
  });
});

describe('the file', () => {
  test('is for its owner only', async () => {
    await talk(['apple']);
    await ids('apple');
    for (const name of ['', '-wal', '-shm']) expect((await stat(dbPath + name)).mode & 0o777, name).toBe(0o600);
  });

  test('can be deleted or rebuilt and nothing is lost', async () => {
    const session = await talk(['apple', 'banana'], 'Fruit');
    await session.appendEdit({ op: 'correct', segment: 2, text: 'orange' });
    await rm(path.join((await talk(['x'])).dir, 'session.json'));
    const before = [await search('apple'), await search('orange'), await search('fruit')];
    const done = await library.rebuild();
    expect(done).toEqual({ sessions: 1, lines: 2, skipped: [{ id: expect.any(String), error: 'session.json is missing' }] });
    expect([await search('apple'), await search('orange'), await search('fruit')]).toEqual(before);
    await library.stop();
    await rm(dbPath);
    library = await openLibrary();
    expect([await search('apple'), await search('orange'), await search('fruit')]).toEqual(before);
  });

  test('answers searches while it is being rebuilt, and holds what came meanwhile', async () => {
    for (let i = 0; i < 30; i++) await talk([`apple ${i}`]);
    await library.sync();
    const rebuilt = library.rebuild();
    const during = await Promise.all(Array.from({ length: 10 }, () => search('apple')));
    const late = await talk(['apple late']);
    await rebuilt;
    expect(during.map((reply) => reply.total)).toEqual(Array(10).fill(30));
    expect((await search('late')).sessions[0]?.id).toBe(late.id);
    expect((await search('apple')).total).toBe(31);
  });

  test.each([
    ['garbage', async () => writeFile(dbPath, 'this is no database'.repeat(1000))],
    ['cut short', async () => truncate(dbPath, 5000)],
    [
      'overwritten from its second page on',
      async () => {
        const file = await open(dbPath, 'r+');
        await file.write(Buffer.alloc((await file.stat()).size - 4096, 0xa5), 0, undefined, 4096);
        await file.close();
      },
    ],
  ])('when it is %s, it is moved aside and made anew', async (_, spoil) => {
    const session = await talk(['apple']);
    await library.sync();
    await library.stop();
    await spoil();
    library = await openLibrary();
    expect(await ids('apple')).toEqual([session.id]);
    const aside = async () => (await readdir(path.dirname(dbPath))).filter((name) => name.startsWith('library.db.corrupt-'));
    expect(await aside()).toHaveLength(1);
    // It may hold words of a session that is deleted now.
    await kit.store.remove(session.id);
    await library.sync();
    expect(await aside()).toEqual([]);
  });

  test('when it is damaged while it is open, a search makes it anew and says so', async () => {
    const session = await talk(['apple']);
    await library.sync();
    const other = new SqliteDatabase(dbPath);
    other.unsafeMode();
    other.prepare('UPDATE entry_index_data SET block = ?').run(Buffer.alloc(100, 0xa5));
    other.close();
    expect(await ids('apple')).toEqual([session.id]);
    expect(kit.events.filter((event) => event.type === 'warning').map((event) => event.warning.code)).toContain('library_damaged');
  });

  test('of a newer version is made anew, because all of it comes from the sessions', async () => {
    const session = await talk(['apple']);
    await library.stop();
    const db = new SqliteDatabase(dbPath);
    db.pragma(`user_version = ${INDEX_VERSION + 1}`);
    db.close();
    library = await openLibrary();
    expect(await ids('apple')).toEqual([session.id]);
    const same = new SqliteDatabase(dbPath);
    expect(same.pragma('user_version', { simple: true })).toBe(INDEX_VERSION);
    same.close();
  });

  test('that another program keeps locked is an error with what to do, and nothing is missed afterwards', async () => {
    const session = await talk(['apple']);
    await library.sync();
    const other = new SqliteDatabase(dbPath);
    other.exec('BEGIN IMMEDIATE');
    await session.appendLine(line('room', 20, 21, 'banana'));
    await expect(library.index(session)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await search('apple')).toMatchObject({ total: 1, unavailable: 1 });
    other.exec('ROLLBACK');
    other.close();
    expect(await ids('banana')).toEqual([session.id]);
  });
});
