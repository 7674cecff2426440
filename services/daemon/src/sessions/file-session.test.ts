import { appendFile, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SessionFile } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { line, newSession, openStoreKit, type StoreKit } from './test-kit.js';
import type { NewEdit, NewSession } from './types.js';

let kit: StoreKit;
beforeEach(async () => {
  kit = await openStoreKit();
});
afterEach(() => kit.remove());

const read = (...names: string[]) => readFile(path.join(kit.dir, ...names), 'utf8');
const reopen = async (id: string) => (await kit.restart()).get(id);

describe('session.json', () => {
  test('is there from the first moment, valid, and for the owner only', async () => {
    const session = await kit.store.create(newSession({ name: 'Ünïcode 会議 🎉 / "x"' }));
    const file = SessionFile.parse(JSON.parse(await read(session.id, 'session.json')));
    expect(file).toMatchObject({ schema: 1, id: session.id, name: 'Ünïcode 会議 🎉 / "x"', state: 'live', ended_at: null });
    expect(file.started_at).toMatch(/^2026-11-30T.*(Z|[+-]\d\d:\d\d)$/);
    for (const [name, mode] of [
      ['.', 0o700],
      ['audio', 0o700],
      ['session.json', 0o600],
    ] as const) {
      expect((await stat(path.join(session.dir, name))).mode & 0o777, name).toBe(mode);
    }
  });

  test('keeps keys it does not know, at every depth, through updates', async () => {
    const session = await kit.store.create(newSession());
    const file = JSON.parse(await read(session.id, 'session.json'));
    file.later = { kept: true };
    file.tracks.room.gain_db = 3;
    file.warnings.push({ code: 'x', message: 'm', at: file.started_at, extra: 1 });
    await writeFile(path.join(session.dir, 'session.json'), JSON.stringify(file));
    await session.update((draft) => {
      draft.tags = ['a'];
    });
    const after = JSON.parse(await read(session.id, 'session.json'));
    expect(after).toEqual({ ...file, tags: ['a'] });
    expect(session.file.tags).toEqual(['a']);
  });

  test('an update that fails to make sense is refused and changes nothing', async () => {
    const session = await kit.store.create(newSession());
    const before = await read(session.id, 'session.json');
    await expect(session.update((draft) => Object.assign(draft, { tags: 'not a list' }))).rejects.toThrow();
    expect(await read(session.id, 'session.json')).toBe(before);
    expect(session.file.tags).toEqual([]);
  });

  test('a hundred updates at once all count', async () => {
    const session = await kit.store.create(newSession());
    await Promise.all(Array.from({ length: 100 }, (_, i) => session.update((draft) => draft.tags.push(`t${i}`))));
    expect((await reopen(session.id)).file.tags).toHaveLength(100);
  });
});

describe('lines', () => {
  test('get consecutive numbers, survive a restart, and are announced once each', async () => {
    const session = await kit.store.create(newSession());
    const texts = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const indices = await Promise.all(texts.map((text, i) => session.appendLine(line('room', i, i + 0.9, text))));
    expect(indices).toEqual([...texts.keys()]);
    const again = await reopen(session.id);
    expect((await again.rawLines()).map((raw) => raw.text)).toEqual(texts);
    expect(await again.lineCount()).toBe(20);
    const announced = kit.events.flatMap((event) => (event.type === 'line' ? [[event.index, event.line.text]] : []));
    expect(announced).toEqual(texts.map((text, i) => [i, text]));
  });

  test('a cursor past the end reads nothing and tells the true next', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'one'));
    await session.appendLine(line('call', 0, 1, 'two'));
    expect(await session.transcript({ since: 1 })).toEqual({
      lines: [{ track: 'call', start_ms: 0, end_ms: 1000, speaker: null, text: 'two' }],
      next: 2,
      session: session.id,
      state: 'live',
    });
    expect(await session.transcript({ since: 99 })).toMatchObject({ lines: [], next: 2 });
  });

  test('transcription goes on after the last published or given-up sample of its track', async () => {
    const session = await kit.store.create(newSession());
    expect(await session.resumeAt('room')).toBe(0);
    await session.appendLine(line('room', 1, 3, 'a'));
    await session.appendLine(line('call', 2, 9, 'b'));
    await session.addWarning({ code: 'turn_failed', message: 'm', track: 'room', samples: [48_000, 80_000] });
    await session.addWarning({ code: 'other', message: 'm' });
    const again = await reopen(session.id);
    expect([await again.resumeAt('room'), await again.resumeAt('call')]).toEqual([80_000, 144_000]);
  });

  test('a torn last line is not read, not counted, and cut by the next append', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'whole'));
    await appendFile(path.join(session.dir, 'raw.jsonl'), '{"track":"room","start_ms":1000,"end_');
    const again = await reopen(session.id);
    expect(await again.lineCount()).toBe(1);
    expect(await again.resumeAt('room')).toBe(16_000);
    expect(await again.appendLine(line('room', 1, 2, 'next'))).toBe(1);
    expect((await read(session.id, 'raw.jsonl')).trim().split('\n').map((text) => JSON.parse(text).text)).toEqual(['whole', 'next']); // biome-ignore format: one check
  });

  describe('damaged on disk', () => {
    const damages: [string, (rows: string[]) => string[], string][] = [
      ['cut', (r) => [r[0] ?? '', '{"broken', r[2] ?? '', r[3] ?? ''], '1 line of raw.jsonl is damaged and cannot be read (line 2).'],
      [
        'zeros',
        (r) => [r[0] ?? '', '\0'.repeat(90), '[]', r[3] ?? ''],
        '2 lines of raw.jsonl are damaged and cannot be read (lines 2, 3).',
      ],
      ['of wrong types', (r) => [r[0] ?? '', '{"track":"room","start_ms":"x"}', r[2] ?? '', r[3] ?? ''], '1 line of raw.jsonl is damaged and cannot be read (line 2).'], // biome-ignore format: a table
      ['of a time beyond all sessions', (r) => [r[0] ?? '', (r[1] ?? '').replace('"start_ms":1000', '"start_ms":1e300'), r[2] ?? '', r[3] ?? ''], '1 line of raw.jsonl is damaged and cannot be read (line 2).'], // biome-ignore format: a table
      [
        'at the end',
        (r) => [r[0] ?? '', '7', r[2] ?? '', '{"track":"ro'],
        '2 lines of raw.jsonl are damaged and cannot be read (lines 2, 4).',
      ],
    ];
    async function four() {
      const session = await kit.store.create(newSession());
      for (const i of [0, 1, 2, 3]) await session.appendLine(line('room', i, i + 1, `l${i}`));
      await session.complete();
      return session;
    }

    test.each(damages)('%s: a finished session says so, once, and the other lines keep their numbers', async (_, damage, message) => {
      const session = await four();
      const whole = await read(session.id, 'raw.jsonl');
      kit.events.length = 0;
      await writeFile(path.join(session.dir, 'raw.jsonl'), `${damage(whole.trimEnd().split('\n')).join('\n')}\n`);
      const again = await reopen(session.id);
      const texts = (await again.lines()).map((l) => l.text);
      expect([texts[0], texts[1]]).toEqual(['l0', '']);
      if (texts.length > 3) expect(texts[3]).toBe('l3');
      expect((await again.transcript({ since: 2 })).next).toBe(texts.length);
      expect(again.file.warnings).toMatchObject([{ code: 'lines_damaged', message, hint: expect.stringContaining('backup') }]);
      expect(kit.events.filter((event) => event.type === 'warning')).toHaveLength(1);
      expect((await again.summary()).warning_count).toBe(1);
      expect(await again.export('text')).toContain(message);
      expect(await read(session.id, 'transcript.md')).toContain('cannot be read');
      const later = await reopen(session.id);
      await later.rawLines();
      expect(later.file.warnings).toHaveLength(1);
      // A backup was put back.
      await writeFile(path.join(session.dir, 'raw.jsonl'), whole);
      expect((await later.lines()).map((l) => l.text)).toEqual(['l0', 'l1', 'l2', 'l3']);
      expect(later.file.warnings).toEqual([]);
    });

    test('is on the row of the session before anybody reads it', async () => {
      const session = await four();
      expect((await kit.store.list())[0]).toMatchObject({ warning_count: 0 });
      await writeFile(path.join(session.dir, 'raw.jsonl'), 'garbage\n{"op":1}\n');
      expect(await kit.store.summary(session.id)).toMatchObject({ warning_count: 1, error: null });
    });

    test('in edits: they are passed over with a warning, those of a newer version without', async () => {
      const session = await four();
      await writeFile(path.join(session.dir, 'edits.jsonl'), '{"op":"highlight","id":"e1","at":"x"}\nxx\n{"op":"correct","id":"e2","at":"x","segment":1,"text":"L0"}\n'); // biome-ignore format: one file
      expect((await session.lines())[0]?.text).toBe('L0');
      expect(session.file.warnings).toMatchObject([{ code: 'edits_damaged', message: expect.stringContaining('(line 2)') }]);
    });

    test('while it is recorded: the lines that come are numbered on', async () => {
      const session = await kit.store.create(newSession());
      for (const i of [0, 1]) await session.appendLine(line('room', i, i + 1, `l${i}`));
      await writeFile(path.join(session.dir, 'raw.jsonl'), `{}\n${JSON.stringify(line('room', 1, 2, 'l1'))}\n`);
      expect(await session.appendLine(line('room', 2, 3, 'l2'))).toBe(2);
      expect(await session.transcript({ since: 1 })).toMatchObject({ lines: [{ text: 'l1' }, { text: 'l2' }], next: 3 });
      expect(await session.resumeAt('room')).toBe(48_000);
      expect(session.file.warnings).toMatchObject([{ code: 'lines_damaged' }]);
    });
  });

  test('bleed is marked, left out of the readable transcript and counted there, and kept in the contract’s lines', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('call', 0, 3, 'Did the backfill finish on Friday?'));
    await session.appendLine(line('room', 0.3, 3.2, 'Did the backfill finish on Friday?'));
    await session.complete();
    expect((await session.verboseLines()).map((l) => l.bleed)).toEqual([false, true]);
    expect(kit.events.filter((e) => e.type === 'line').map((e) => e.bleed)).toEqual([undefined, true]);
    expect(await session.lines()).toHaveLength(2);
    const markdown = await read(session.id, 'transcript.md');
    expect(markdown.match(/backfill/g)).toHaveLength(1);
    expect(markdown).toContain('1 line left out: the call heard through the loudspeakers.');
  });
});

describe('edits', () => {
  async function three() {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'hello'));
    await session.appendLine(line('call', 1, 2, 'helo there'));
    await session.appendLine(line('call', 2, 3, 'bye'));
    return session;
  }

  test('are folded in order over what was heard, which stays as it is', async () => {
    const session = await three();
    const raw = await read(session.id, 'raw.jsonl');
    await session.appendEdit({ op: 'name', track: 'call', speaker: 'Priya' });
    await session.appendEdit({ op: 'name', segments: [3], speaker: 'Bob' });
    await session.appendEdit({ op: 'correct', segment: 2, text: 'hello there' });
    await session.appendEdit({ op: 'comment', segment: 1, text: 'greeting' });
    const again = await reopen(session.id);
    expect((await again.lines()).map((l) => [l.speaker, l.text])).toEqual([[null, 'hello'], ['Priya', 'hello there'], ['Bob', 'bye']]); // biome-ignore format: a table
    expect((await again.lines({ verbatim: true })).map((l) => [l.speaker, l.text])).toEqual([[null, 'hello'], [null, 'helo there'], [null, 'bye']]); // biome-ignore format: a table
    expect((await again.summary()).speakers).toEqual(['Priya', 'Bob']);
    expect(await read(session.id, 'raw.jsonl')).toBe(raw);
  });

  test('can be undone, and the undoing too', async () => {
    const session = await three();
    const named = await session.appendEdit({ op: 'name', track: 'call', speaker: 'Priya' });
    const undone = await session.appendEdit({ op: 'revert', edit: named.id });
    expect((await session.lines())[1]?.speaker).toBeNull();
    await session.appendEdit({ op: 'revert', edit: undone.id });
    expect((await session.lines())[1]?.speaker).toBe('Priya');
    expect((await session.edits()).map((edit) => edit.op)).toEqual(['name', 'revert', 'revert']);
  });

  test('a name given to a track holds for lines that come later, on the event too', async () => {
    const session = await three();
    await session.appendEdit({ op: 'name', track: 'room', speaker: 'Ana' });
    await session.appendLine(line('room', 5, 6, 'later'));
    expect(kit.events.filter((e) => e.type === 'line').at(-1)?.line.speaker).toBe('Ana');
    expect((await session.lines()).at(-1)?.speaker).toBe('Ana');
  });

  test.each<[NewEdit, string]>([
    [{ op: 'correct', segment: 4, text: 'x' }, 'bad_request'],
    [{ op: 'name', segments: [1, 9], speaker: 'x' }, 'bad_request'],
    [{ op: 'name', speaker: 'x' }, 'bad_request'],
    [{ op: 'revert', edit: 'nope' }, 'not_found'],
  ])('%j is refused and nothing is written', async (edit, code) => {
    const session = await three();
    await expect(session.appendEdit(edit)).rejects.toMatchObject({ code });
    expect(await session.edits()).toEqual([]);
  });

  test('a name for a track that the session does not have is refused, and says which it has', async () => {
    const session = await kit.store.create(newSession({ tracks: { room: newSession().tracks.room } as NewSession['tracks'] }));
    await expect(session.appendEdit({ op: 'name', track: 'call', speaker: 'Ana' })).rejects.toMatchObject({
      code: 'bad_request',
      message: 'The session has no track call; it has room.',
    });
  });

  test('an edit of a newer version is kept and passed over', async () => {
    const session = await three();
    await writeFile(path.join(session.dir, 'edits.jsonl'), '{"op":"highlight","id":"e1","at":"x"}\n');
    await session.appendEdit({ op: 'correct', segment: 1, text: 'HELLO' });
    expect((await session.lines())[0]?.text).toBe('HELLO');
    expect(await read(session.id, 'edits.jsonl')).toMatch(/^\{"op":"highlight"/);
  });
});

describe('transcript.md', () => {
  test('is written when the transcript is complete, before the state says so', async () => {
    const session = await kit.store.create(newSession({ name: 'Road*map*' }));
    await session.appendLine(line('call', 65, 70, 'second'));
    await session.appendLine(line('room', 3, 4, 'first'));
    await session.update((draft) => {
      draft.state = 'transcribing';
      draft.duration_s = 3725;
      draft.ended_at = draft.started_at;
      draft.coverage = [{ track: 'call', from_ms: 1000, to_ms: 61_000, reason: 'device_lost' }];
    });
    await session.addWarning({ code: 'silent_track', message: 'The call is silent.', hint: 'Check the sink.', track: 'call' });
    await session.appendEdit({ op: 'name', track: 'call', speaker: 'Priya' });
    await expect(stat(path.join(session.dir, 'transcript.md'))).rejects.toThrow();
    await session.complete();
    expect(session.file.state).toBe('done');
    const text = await read(session.id, 'transcript.md');
    expect(text).toMatch(/^# Road\\\*map\\\*\n/);
    expect(text).toContain('- Length: 1 h 2 min 5 s');
    expect(text).toContain('- Tracks: room (microphone, sox); call (system audio, sox)');
    expect(text).toContain('> Warning (call): The call is silent. Check the sink.');
    expect(text).toContain('> Not heard: call 00:00:01–00:01:01, the device was gone.');
    expect(text.indexOf('**[00:00:03] room:** first')).toBeGreaterThan(0);
    expect(text.indexOf('**[00:01:05] Priya (call):** second')).toBeGreaterThan(text.indexOf('first'));
  });

  test('follows every later change', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'helo'));
    await session.complete();
    const edit = await session.appendEdit({ op: 'correct', segment: 1, text: 'hello' });
    expect(await read(session.id, 'transcript.md')).toContain('hello');
    await session.appendEdit({ op: 'revert', edit: edit.id });
    expect(await read(session.id, 'transcript.md')).toContain('helo\n');
    await session.update((draft) => {
      draft.name = 'New name';
    });
    expect(await read(session.id, 'transcript.md')).toContain('# New name');
  });

  test('exports say the same in three formats', async () => {
    const session = await kit.store.create(newSession());
    await session.appendLine(line('room', 0, 1, 'hello *you*'));
    await session.complete();
    expect(await session.export('markdown')).toBe(await read(session.id, 'transcript.md'));
    expect(await session.export('text')).toContain('[00:00:00] room: hello *you*');
    const json = JSON.parse(await session.export('json'));
    expect(json).toMatchObject({ session: { id: session.id }, lines: [{ segment: 1, text: 'hello *you*', bleed: false, struck: false }] });
  });
});

test('an interrupted recording ends as interrupted, not as done', async () => {
  const session = await kit.store.create(newSession());
  await session.update((draft) => {
    draft.state = 'pending';
    draft.interrupted_at = draft.started_at;
  });
  await session.complete();
  expect(session.file.state).toBe('interrupted');
  expect(await session.summary()).toMatchObject({ state: 'interrupted', transcribed: true, live: false });
});

test('warnings, gaps and changes of the row are announced; sample counts alone are not', async () => {
  const session = await kit.store.create(newSession());
  kit.events.length = 0;
  await session.update((draft) => {
    if (draft.tracks.room) draft.tracks.room.samples = 16_000;
  });
  expect(kit.events).toEqual([]);
  await session.addWarning({ code: 'disk_low', message: 'm' });
  await session.update((draft) => draft.coverage.push({ track: 'room', from_ms: 0, to_ms: 1, reason: 'paused' }));
  expect(kit.events.map((event) => event.type)).toEqual(['warning', 'session', 'coverage', 'session']);
});

test('a session.json changed by hand is taken up, not overwritten', async () => {
  const session = await kit.store.create(newSession());
  const file = JSON.parse(await read(session.id, 'session.json'));
  await writeFile(path.join(session.dir, 'session.json'), JSON.stringify({ ...file, notes: 'by hand' }));
  await utimes(path.join(session.dir, 'session.json'), new Date(), new Date());
  await session.update((draft) => {
    draft.pinned = true;
  });
  expect((await reopen(session.id)).file).toMatchObject({ notes: 'by hand', pinned: true });
});
