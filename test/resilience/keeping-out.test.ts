import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { CALL, Daemon, ROOM, readWav, sameSamples, silent, until, writeWav } from './kit.js';

/** Left out of what is played, as nobody hears it: three seconds of the pause, and two while the call is muted. */
const CUTS = [
  [5200, 8200],
  [13_400, 15_400],
] as const;

/** The bundled conversation, played at its own pace, while its user keeps things out of it. */
describe('what is kept out of a recording', () => {
  let daemon: Daemon;
  let id: string;
  let work: string;
  const played = (track: 'room' | 'call'): string => path.join(work, `${track}.wav`);
  beforeAll(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'amk-'));
    for (const [track, file] of [
      ['room', ROOM],
      ['call', CALL],
    ] as const) {
      const { samples } = await readWav(file);
      const isCut = (i: number): boolean => CUTS.some(([from, to]) => i >= from * 16 && i < to * 16);
      await writeWav(
        played(track),
        samples.filter((_, i) => !isCut(i)),
      );
    }
    daemon = new Daemon({ AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-base' });
    await daemon.start();
  });
  afterAll(async () => {
    await daemon.remove();
    rmSync(work, { recursive: true });
  });

  const cli = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runHere(daemon.paths.home, args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };
  /** Waits until the file has been played up to there; it begins a moment after the clock does. */
  const at = (ms: number): Promise<unknown> =>
    until(() => (statSync(daemon.file(id, 'audio', 'room.wav')).size - 44) / 32 >= ms, `${ms} ms`);
  const gaps = (track: string, reason: string) =>
    daemon.sessionFile(id).coverage.filter((gap) => gap.track === track && gap.reason === reason);
  /** Every file of the home that holds the words, whatever its format. */
  const filesWith = (words: RegExp): string[] =>
    readdirSync(daemon.paths.home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.wav'))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => words.test(readFileSync(file, 'latin1')));
  const shown = async (...args: string[]): Promise<string> =>
    (await Promise.all([cli('show', id), cli('show', id, '--verbatim')])).join(args.join());

  it('while paused nothing is heard, and a muted track is not heard while the other is', async () => {
    id = await daemon.record({ room_file: played('room'), call_file: played('call') });
    await at(4300);
    await daemon.client.call('pause', { body: {} });
    expect((await daemon.status()).live).toMatchObject({ paused: true });
    await at(6900);
    await daemon.client.call('resume', { body: {} });
    await at(9300);
    await daemon.client.call('mute', { body: { track: 'call', muted: true } });
    expect((await daemon.status()).live).toMatchObject({ paused: false, muted: ['call'] });
    await at(11_500);
    await daemon.client.call('mute', { body: { track: 'call', muted: false } });
    expect((await daemon.status()).live).toMatchObject({ muted: [] });
  });

  it('a strike takes back what was said before, and what is being said', async () => {
    await daemon.heard(id, 1);
    const [first] = daemon.rawLines(id);
    expect(first?.text).toMatch(/weekend/i);
    await daemon.client.call('search', { query: { q: 'weekend' } });
    expect(filesWith(/weekend/i).length).toBeGreaterThan(1);

    // "We need it before the budget review on Friday. They will ask about it." is being said from 12.4 s to 16.4 s.
    await at(14_500);
    await daemon.client.call('strike', { params: { session: 'live' }, body: { from_ms: 12_000, to_ms: 15_000, track: 'room' } });
    const before = daemon.rawLines(id);
    expect(await cli('strike', '--from', '0:00', '--to', '0:04')).toContain('1 line, and the audio');
    expect(daemon.events).toContainEqual({ type: 'struck', session: id, lines: [0] });
    const after = daemon.rawLines(id);
    expect(after[0]).toEqual({ ...first, text: '', struck: true });
    expect(after.slice(1, before.length)).toEqual(before.slice(1));
    expect(filesWith(/weekend/i)).toEqual([]);
    const { samples } = await daemon.track(id, 'room');
    expect(silent(samples, 0, 4000)).toBe(true);
    for (const gap of gaps('room', 'struck')) expect(silent(samples, gap.from_ms, gap.to_ms)).toBe(true);
    expect(samples.length).toBeGreaterThan(14_000 * 16);
    await daemon.finished(id);
  });

  it('the words of a turn that was struck while it was spoken are never written', async () => {
    const [, last] = gaps('room', 'struck').sort((a, b) => a.from_ms - b.from_ms);
    const inside = daemon
      .rawLines(id)
      .filter((line) => line.track === 'room' && line.start_ms < (last?.to_ms ?? 0) && line.end_ms > (last?.from_ms ?? 0));
    expect(inside.length).toBeGreaterThan(0);
    for (const line of inside) expect(line).toMatchObject({ text: '', struck: true });
    expect(filesWith(/budget/i)).toEqual([]);
    for (const event of daemon.events) if (event.type === 'line') expect(event.line.text).not.toMatch(/budget/i);
  });

  it('what was paused and muted is silence of the true length, is in the ledger, and has no lines', async () => {
    for (const [track, reason, from, to] of [
      ['room', 'paused', 4300, 6900],
      ['call', 'paused', 4300, 6900],
      ['call', 'muted', 9300, 11_500],
    ] as const) {
      const [gap] = gaps(track, reason);
      expect(gaps(track, reason)).toHaveLength(1);
      expect(Math.abs((gap?.from_ms ?? 0) - from)).toBeLessThan(1000);
      expect(Math.abs((gap?.to_ms ?? 0) - to)).toBeLessThan(1000);
      const { samples } = await daemon.track(id, track);
      expect(silent(samples, gap?.from_ms ?? 0, gap?.to_ms ?? 0)).toBe(true);
      const inside = daemon
        .rawLines(id)
        .filter((line) => line.track === track && line.start_ms >= (gap?.from_ms ?? 0) && line.end_ms <= (gap?.to_ms ?? 0));
      expect(inside).toEqual([]);
      const source = (await readWav(played(track))).samples;
      expect(samples.length).toBe(source.length);
      expect(sameSamples(samples.subarray(17_000 * 16), source.subarray(17_000 * 16))).toBe(true);
    }
    expect(gaps('room', 'muted')).toEqual([]);
    const text = await shown();
    expect(text).toMatch(/left to copy/i);
    expect(text).toMatch(/summary on Thursday/i);
  });

  it('a finished session can be struck too: text, audio, search and exports lose it, and nothing else moves', async () => {
    const before = daemon.rawLines(id);
    const index = before.findIndex((line) => /left to copy/i.test(line.text));
    const line = before[index];
    expect(filesWith(/left to copy/i).map((file) => path.basename(file))).toEqual(expect.arrayContaining(['raw.jsonl', 'transcript.md']));
    await cli('strike', id, '--from', String((line?.start_ms ?? 0) / 1000), '--to', String((line?.end_ms ?? 0) / 1000), '--track', 'room');
    expect(daemon.rawLines(id)).toEqual(before.map((old, i) => (i === index ? { ...old, text: '', struck: true } : old)));
    expect(filesWith(/left to copy/i)).toEqual([]);
    expect(await shown()).not.toMatch(/copy/i);
    for (const format of ['markdown', 'text', 'json']) expect(await cli('export', id, '--format', format)).not.toMatch(/left to copy/i);
    expect(await daemon.client.call('search', { query: { q: 'copy' } })).toMatchObject({ total: 0 });
    expect(daemon.events).toContainEqual({ type: 'struck', session: id, lines: [index] });
    const { samples } = await daemon.track(id, 'room');
    expect(silent(samples, line?.start_ms ?? 0, line?.end_ms ?? 0)).toBe(true);
    expect(sameSamples(samples.subarray(21_000 * 16), (await readWav(played('room'))).samples.subarray(21_000 * 16))).toBe(true);
    expect(await cli('show', id, '--coverage')).toMatch(/struck/);
    expect(await cli('strike', id, '--last', '3s', '--track', 'room')).toContain('1 line, and the audio');
    expect(await shown()).not.toMatch(/before the meeting/i);
    const next = (await daemon.client.call('transcript', { params: { session: id }, query: { since: index + 1 } })).lines;
    expect(next).toHaveLength(before.length - index - 1);
  });
});
