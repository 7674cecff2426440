import { appendFile, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recover } from './recovery.js';
import { line, newSession, openStoreKit, type StoreKit, writeAudio } from './test-kit.js';
import { wavHeader } from './wav.js';

const NOW = new Date('2026-12-01T09:00:00Z');
let kit: StoreKit;
beforeEach(async () => {
  kit = await openStoreKit();
});
afterEach(() => kit.remove());

/** Audio as a killed recorder leaves it: the header a second behind, half a sample at the end. */
async function cutAudio(file: string, seconds: number): Promise<void> {
  const samples = Math.round(seconds * 16_000);
  await writeFile(file, Buffer.concat([wavHeader(samples - 16_000), Buffer.alloc(samples * 2, 1), Buffer.from([9])]));
}

test('a recording cut by a crash becomes a session like any other, with a warning that says when', async () => {
  const session = await kit.store.create(newSession());
  await session.update((draft) => {
    if (draft.tracks.call) draft.tracks.call.offset_ms = 250;
  });
  await cutAudio(path.join(session.audioDir, 'room.wav'), 65.5);
  await cutAudio(path.join(session.audioDir, 'call.wav'), 30);
  await session.appendLine(line('room', 0, 4, 'published'));
  await appendFile(path.join(session.dir, 'raw.jsonl'), '{"track":"room","sta');
  await writeFile(path.join(session.dir, 'session.json.12345'), '{');

  const store = await kit.restart();
  const [found, ...more] = await recover(store, NOW);
  expect(more).toEqual([]);
  expect(found?.feeds.map((feed) => [feed.track, feed.available(), feed.offsetMs, feed.ended()])).toEqual([
    ['room', 65.5 * 16_000, 0, true],
    ['call', 30 * 16_000, 250, true],
  ]);
  const file = found?.session.file;
  expect(file).toMatchObject({ state: 'pending', duration_s: 65.5, tracks: { room: { samples: 1_048_000 }, call: { samples: 480_000 } } });
  expect(new Date(file?.ended_at ?? '').toISOString()).toBe('2026-11-30T16:09:08.620Z');
  expect(file?.interrupted_at).toBe(file?.ended_at);
  expect(file?.warnings).toEqual([
    expect.objectContaining({ code: 'interrupted', message: expect.stringContaining('cut at 00:01:05'), from_ms: 65_500 }),
  ]);
  expect(file?.coverage).toEqual([{ track: 'call', from_ms: 30_250, to_ms: 65_500, reason: 'daemon_died' }]);
  const wav = await readFile(path.join(session.audioDir, 'room.wav'));
  expect([wav.length, wav.readUInt32LE(40)]).toEqual([44 + 2 * 1_048_000, 2 * 1_048_000]);
  expect(await readFile(path.join(session.dir, 'raw.jsonl'), 'utf8')).toMatch(/"published".*\}\n$/);
  await expect(stat(path.join(session.dir, 'session.json.12345'))).rejects.toThrow();
  expect(await found?.session.resumeAt('room')).toBe(64_000);

  await found?.session.complete();
  expect(found?.session.file.state).toBe('interrupted');
  expect(await readFile(path.join(session.dir, 'transcript.md'), 'utf8')).toContain('The recording was cut at 00:01:05');
});

test('crashing again before the end adds no second warning and loses no text', async () => {
  const session = await kit.store.create(newSession());
  await cutAudio(path.join(session.audioDir, 'room.wav'), 10);
  for (let round = 0; round < 3; round++) {
    const [found] = await recover(await kit.restart(), NOW);
    await found?.session.update((draft) => {
      draft.state = 'transcribing';
    });
    await found?.session.appendLine(line('room', round, round + 1, `l${round}`));
  }
  const again = await (await kit.restart()).get(session.id);
  expect(again.file.warnings).toHaveLength(1);
  expect((await again.rawLines()).map((l) => l.text)).toEqual(['l0', 'l1', 'l2']);
});

test('a recording of which nothing was kept leaves no ghost', async () => {
  const none = await kit.store.create(newSession());
  const header = await kit.store.create(newSession());
  await writeFile(path.join(header.audioDir, 'room.wav'), wavHeader(0));
  const sample = await kit.store.create(newSession());
  await writeFile(path.join(sample.audioDir, 'call.wav'), Buffer.concat([wavHeader(0), Buffer.alloc(2, 1)]));
  const store = await kit.restart();
  const found = await recover(store, NOW);
  expect(found.map(({ session }) => session.id)).toEqual([sample.id]);
  expect(await store.ids()).toEqual([sample.id]);
  expect([none.id, header.id]).not.toContain(sample.id);
});

test('sessions that were waiting go on without a warning, oldest first; complete ones are left alone', async () => {
  const states = ['transcribing', 'pending', 'done'] as const;
  const ids: string[] = [];
  for (const state of states) {
    const session = await kit.store.create(newSession({ state: 'pending' }));
    await writeAudio(session.audioDir, 'room', 2);
    await session.update((draft) => {
      draft.state = state;
      draft.duration_s = 2;
      draft.ended_at = draft.started_at;
    });
    ids.push(session.id);
  }
  const before = await stat(path.join(kit.dir, ids[2] ?? '', 'session.json'), { bigint: true });
  const found = await recover(await kit.restart(), NOW);
  expect(found.map(({ session }) => session.id)).toEqual(ids.slice(0, 2));
  expect(found.map(({ session }) => [session.file.state, session.file.interrupted_at, session.file.warnings])).toEqual([
    ['pending', null, []],
    ['pending', null, []],
  ]);
  expect((await stat(path.join(kit.dir, ids[2] ?? '', 'session.json'), { bigint: true })).ino).toBe(before.ino);
});

test('the recording that runs is not touched', async () => {
  const live = await kit.store.create(newSession());
  expect(await recover(kit.store, NOW)).toEqual([]);
  expect(live.file.state).toBe('live');
});

test('one session that cannot be recovered does not keep the others from it', async () => {
  const bad = await kit.store.create(newSession());
  const file = await open(path.join(bad.audioDir, 'room.wav'), 'w');
  await file.close();
  const good = await kit.store.create(newSession());
  await writeAudio(good.audioDir, 'room', 1);
  await writeFile(path.join(bad.dir, 'session.json'), '{');
  const store = await kit.restart();
  expect((await recover(store, NOW)).map(({ session }) => session.id)).toEqual([good.id]);
  expect((await store.list()).map((row) => row.state).toSorted()).toEqual(['broken', 'pending']);
});

test('what a kill left beside a finished session is removed, and nothing else', async () => {
  const session = await kit.store.create(newSession());
  await cutAudio(path.join(session.audioDir, 'room.wav'), 1);
  await session.complete();
  await writeFile(path.join(session.dir, 'session.json.12345'), '{');
  await writeFile(path.join(session.dir, 'session.json.mine'), '{}');
  const before = await readdir(session.dir);
  expect(await recover(await kit.restart(), NOW)).toEqual([]);
  expect(await readdir(session.dir)).toEqual(before.filter((name) => name !== 'session.json.12345'));
});
