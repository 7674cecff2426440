import { spawn } from 'node:child_process';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileSession } from './file-session.js';
import { line, newSession, openStoreKit, type StoreKit, writeAudio } from './test-kit.js';
import { readSamples, wavHeader, writeHeader } from './wav.js';

let kit: StoreKit;
beforeEach(async () => {
  kit = await openStoreKit();
});
afterEach(() => kit.remove());

const read = (session: FileSession, ...names: string[]) => readFile(path.join(session.dir, ...names), 'utf8');
const audible = async (session: FileSession, track: 'room' | 'call', from: number, to: number) =>
  (await readSamples(path.join(session.audioDir, `${track}.wav`), from * 16_000, to * 16_000)).some((sample) => sample !== 0);

/** Three lines a track, ten seconds of audio each; the call track begins two seconds in. */
async function talk(done = true): Promise<FileSession> {
  const session = await kit.store.create(newSession());
  await session.update((draft) => {
    if (draft.tracks.call) draft.tracks.call.offset_ms = 2000;
  });
  for (const track of ['room', 'call'] as const) {
    await writeAudio(session.audioDir, track, 10);
    for (const i of [0, 1, 2]) await session.appendLine({ ...line(track, 3 * i, 3 * i + 2, `${track} word${i}`), tokens: [`word${i}`] });
  }
  await session.appendEdit({ op: 'correct', segment: 2, text: 'secret correction' });
  await session.appendEdit({ op: 'comment', segment: 2, text: 'secret comment' });
  await session.appendEdit({ op: 'correct', segment: 1, text: 'open correction' });
  if (done) {
    await session.update((draft) => {
      draft.state = 'transcribing';
      draft.duration_s = 12;
    });
    await session.complete();
  }
  return session;
}

test('struck speech is gone from lines, edits, transcript and audio, and nothing else moves', async () => {
  const session = await talk();
  const before = await session.rawLines();
  expect((await session.strike({ fromMs: 3500, toMs: 6000 })).lines).toEqual([1, 4]);
  const after = await session.rawLines();
  expect(after.map((l) => l.text)).toEqual(['room word0', '', 'room word2', 'call word0', '', 'call word2']);
  expect(after.map((l) => [l.start_ms, l.end_ms, l.samples, l.track])).toEqual(
    before.map((l) => [l.start_ms, l.end_ms, l.samples, l.track]),
  );
  for (const name of ['raw.jsonl', 'edits.jsonl', 'transcript.md', 'session.json']) {
    const content = await read(session, name);
    expect(content, name).not.toContain('word1');
    expect(content, name).not.toContain('secret');
  }
  expect(await read(session, 'edits.jsonl')).toContain('open correction');
  expect(await session.edits()).toHaveLength(3);
  expect([await audible(session, 'room', 3.5, 6), await audible(session, 'call', 1.5, 4)]).toEqual([false, false]);
  // A turn goes as a whole: from 3 s on.
  expect([await audible(session, 'room', 3, 3.5), await audible(session, 'call', 1, 1.5)]).toEqual([false, false]);
  expect([await audible(session, 'room', 2.99, 3), await audible(session, 'room', 6, 6.01)]).toEqual([true, true]);
  expect([await audible(session, 'call', 0.99, 1), await audible(session, 'call', 4, 4.01)]).toEqual([true, true]);
  expect(session.file.coverage).toEqual([
    { track: 'room', from_ms: 3500, to_ms: 6000, reason: 'struck' },
    { track: 'call', from_ms: 3500, to_ms: 6000, reason: 'struck' },
    { track: 'room', from_ms: 3000, to_ms: 3500, reason: 'struck', rest_of_turn: true },
    { track: 'call', from_ms: 3000, to_ms: 3500, reason: 'struck', rest_of_turn: true },
  ]);
  expect(await read(session, 'transcript.md')).toContain('room 00:00:03–00:00:03, struck, as the rest of its turn.');
  expect(session.file).not.toHaveProperty('unfinished_strikes');
  expect(await read(session, 'transcript.md')).toContain('2 lines struck by the user.');
  expect(kit.events.filter((e) => e.type === 'struck')).toEqual([{ type: 'struck', session: session.id, lines: [1, 4] }]);
});

test('the rest of a struck turn takes nothing of the turns beside it, and is struck once', async () => {
  const session = await kit.store.create(newSession());
  await writeAudio(session.audioDir, 'room', 10);
  // Turns carry context: their edges overlap.
  for (const [from, to] of [[0, 2.2], [2, 5.2], [5, 8]] as const) await session.appendLine(line('room', from, to, 'words')); // biome-ignore format: a table
  await session.update((draft) => {
    draft.state = 'transcribing';
    draft.duration_s = 10;
  });
  await session.complete();
  expect((await session.strike({ fromMs: 3000, toMs: 3500, track: 'room' })).lines).toEqual([1]);
  expect((await session.strike({ fromMs: 3200, toMs: 3300, track: 'room' })).lines).toEqual([]);
  const rest = session.file.coverage.filter((gap) => gap.rest_of_turn).map(({ from_ms, to_ms }) => [from_ms, to_ms]);
  expect(rest).toEqual([[2200, 3000], [3500, 5000]]); // biome-ignore format: a table
  const heard = await Promise.all([2.19, 2.2, 4.99, 5].map((at) => audible(session, 'room', at, at + 0.005)));
  expect(heard).toEqual([true, false, false, true]);
});

test('one track can be struck alone', async () => {
  const session = await talk();
  expect((await session.strike({ fromMs: 0, toMs: 60_000, track: 'call' })).lines).toEqual([3, 4, 5]);
  expect([await audible(session, 'room', 0, 10), await audible(session, 'call', 0, 10)]).toEqual([true, false]);
});

test('nothing can be written to a struck line any more', async () => {
  const session = await talk();
  await session.strike({ fromMs: 3500, toMs: 6000 });
  await expect(session.appendEdit({ op: 'correct', segment: 2, text: 'again' })).rejects.toMatchObject({ code: 'conflict' });
  expect((await session.lines({ verbatim: true }))[1]?.text).toBe('');
});

test.each([
  { fromMs: 5000, toMs: 5000 },
  { fromMs: 5000, toMs: 4000 },
  { fromMs: -1, toMs: 4000 },
  { fromMs: Number.NaN, toMs: 4000 },
])('an empty range is refused: %j', async (range) => {
  const session = await talk();
  await expect(session.strike(range)).rejects.toMatchObject({ code: 'bad_request' });
  expect(session.file.coverage).toEqual([]);
});

test('a turn that was being recognised when its speech was struck comes in empty; later speech is untouched', async () => {
  const session = await talk(false);
  await session.strike({ fromMs: 8400, toMs: 3_600_000 });
  const index = await session.appendLine(line('room', 8.5, 9.8, 'late secret'));
  expect((await session.rawLines())[index]).toMatchObject({ text: '', struck: true, samples: [136_000, 156_800] });
  const early = await session.appendLine({ ...line('call', 8.1, 9.5, 'began before'), samples: [97_600, 120_000] });
  expect((await session.rawLines())[early]).toMatchObject({ text: '', struck: true });
  expect(session.file.coverage).toContainEqual({ track: 'call', from_ms: 8100, to_ms: 8400, reason: 'struck', rest_of_turn: true });
  // The call begins two seconds in.
  expect([await audible(session, 'call', 6.09, 6.1), await audible(session, 'call', 6.1, 7.5)]).toEqual([true, false]);
  expect(kit.events.filter((e) => e.type === 'line').at(-1)?.line.text).toBe('');
  await session.appendLine(line('room', 60, 62, 'later words'));
  expect((await session.lines()).at(-1)?.text).toBe('later words');
});

test('a live spool is silenced while its writer appends, and what was still on its way to disk follows', async () => {
  const session = await kit.store.create(newSession());
  const file = path.join(session.audioDir, 'room.wav');
  const writer = await open(file, 'w+');
  const second = Buffer.alloc(32_000, 1);
  await writer.write(wavHeader(0));
  for (let i = 1; i <= 3; i++) await writer.write(second);
  // Struck up to "now", which the spool has not reached.
  await session.strike({ fromMs: 1000, toMs: 3500, track: 'room' });
  await writer.write(second);
  await writer.write(second);
  await writeHeader(writer, 5 * 16_000);
  await writer.close();
  await session.update((draft) => {
    draft.state = 'transcribing';
  });
  await session.complete();
  const heard = await Promise.all([0.99, 1, 3.4, 3.51, 4.9].map((at) => audible(session, 'room', at, at + 0.005)));
  expect(heard).toEqual([true, false, false, true, true]);
  expect(session.file).not.toHaveProperty('unfinished_strikes');
});

test('a strike of an import holds when a crash makes its file be decoded from the start again', async () => {
  const session = await kit.store.create(newSession({ origin: 'import', state: 'pending' }));
  await writeAudio(session.audioDir, 'room', 5);
  await session.strike({ fromMs: 1000, toMs: 2000, track: 'room' });
  await writeAudio(session.audioDir, 'room', 10);
  await session.complete();
  expect([await audible(session, 'room', 1, 2), await audible(session, 'room', 2, 10)]).toEqual([false, true]);
});

test('a crash after the ledger entry is made up for at the next start', async () => {
  const session = await talk();
  // What a kill right after the first step leaves behind.
  const strikes = [{ track: 'room', from_ms: 3500, to_ms: 6000 }];
  await session.update((draft) => {
    draft.coverage.push({ track: 'room', from_ms: 3500, to_ms: 6000, reason: 'struck' });
    draft.unfinished_strikes = strikes;
  });
  const again = await (await kit.restart()).get(session.id);
  expect((await again.rawLines()).map((l) => l.text)).toEqual(['room word0', '', 'room word2', 'call word0', 'call word1', 'call word2']);
  expect(await audible(again, 'room', 3.5, 6)).toBe(false);
  for (const name of ['raw.jsonl', 'edits.jsonl', 'transcript.md']) expect(await read(again, name), name).not.toMatch(/room word1|secret/);
  expect(again.file).not.toHaveProperty('unfinished_strikes');
  expect(again.file.coverage).toMatchObject([{ from_ms: 3500 }, { track: 'room', from_ms: 3000, to_ms: 3500, rest_of_turn: true }]);
});

test('killed at any moment of a strike, the next start leaves either everything or nothing of it', async () => {
  const script = path.join(kit.dir, '..', 'strike.mjs');
  const modules = new URL('../../dist/', import.meta.url).href;
  await writeFile(
    script,
    `const [dir, id] = process.argv.slice(2);
     const { FileSessionStore } = await import('${modules}sessions/file-session-store.js');
     const { Bus } = await import('${modules}platform/bus.js');
     const { systemClock } = await import('${modules}platform/clock.js');
     const { silentLogger } = await import('${modules}platform/logger.js');
     const store = new FileSessionStore({ dir, bus: new Bus(() => {}), clock: systemClock, logger: silentLogger() });
     const session = await store.get(id);
     process.stdout.write('ready');
     await session.strike({ fromMs: 3500, toMs: 6000 });`,
  );
  await mkdir(kit.dir, { recursive: true });
  for (let round = 0; round < 8; round++) {
    const session = await talk();
    const child = spawn(process.execPath, [script, kit.dir, session.id], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, round * 2));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    const again = await (await kit.restart()).get(session.id);
    const begun = again.file.coverage.length > 0;
    expect((await again.rawLines()).map((l) => l.text === '')).toEqual([false, begun, false, false, begun, false]);
    expect(await audible(again, 'room', 3.5, 6)).toBe(!begun);
    expect((await read(again, 'edits.jsonl')).includes('secret')).toBe(!begun);
    expect((await read(again, 'transcript.md')).includes('secret')).toBe(!begun);
  }
});

test('a range behind the end strikes nothing and says how long the session is; one that reaches over it is cut', async () => {
  const session = await talk();
  const before = await read(session, 'session.json');
  const behind = session.strike({ fromMs: 750_000, toMs: 840_000 });
  await expect(behind).rejects.toMatchObject({ code: 'bad_request', message: 'The session is 0:12 long; nothing was struck.' });
  expect(await read(session, 'session.json')).toBe(before);
  expect(await session.strike({ fromMs: 6500, toMs: 840_000, track: 'room' })).toEqual({ lines: [2], toMs: 12_000 });
  const live = await talk(false);
  await expect(live.strike({ fromMs: 750_000, toMs: 840_000 })).rejects.toMatchObject({
    message: 'The session is 0:12 long so far; nothing was struck.',
  });
});

test('the same stretch struck twice stands in the ledger once', async () => {
  const session = await talk();
  await session.strike({ fromMs: 3000, toMs: 6000, track: 'room' });
  await session.strike({ fromMs: 3000, toMs: 6000, track: 'room' });
  await session.strike({ fromMs: 4000, toMs: 5000, track: 'room' });
  expect(session.file.coverage).toEqual([{ track: 'room', from_ms: 3000, to_ms: 6000, reason: 'struck' }]);
});
