import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SessionFile } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { sessionFile } from '../cli/support/samples.js';
import { BOTH, Daemon, ROOM, until, writeTalk } from './kit.js';

const DAY_MS = 86_400_000;
const ago = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

describe('audio that is past its time', () => {
  let daemon: Daemon;
  beforeAll(() => {
    daemon = new Daemon();
  });
  afterAll(() => daemon.remove());

  const hasAudio = (id: string): boolean => existsSync(daemon.file(id, 'audio', 'room.wav'));
  async function session(id: string, days: number, change: Partial<SessionFile> = {}): Promise<void> {
    await mkdir(daemon.file(id, 'audio'), { recursive: true });
    await cp(ROOM, daemon.file(id, 'audio', 'room.wav'));
    const track = { source: 'mic' as const, recorder: 'sox', device: null, sample_rate: 16_000, offset_ms: 0, samples: 471_177 };
    const file = sessionFile({ id, started_at: ago(days), ended_at: ago(days), tracks: { room: track }, ...change });
    const line = { track: 'room', start_ms: 600, end_ms: 4000, text: `Words of ${id}.`, confidence: null, language: 'en', samples: [9600, 64_000], model: 'moonshine-base' }; // biome-ignore format: one line
    await writeFile(daemon.file(id, 'session.json'), JSON.stringify(file));
    await writeFile(daemon.file(id, 'raw.jsonl'), `${JSON.stringify(line)}\n`);
  }

  it('is deleted at start; not that of a pinned session, nor of one whose transcript is not complete or was finished lately', async () => {
    await session('old', 10);
    await session('old-cut', 10, { state: 'interrupted', interrupted_at: ago(10) });
    await session('old-pinned', 10, { pinned: true });
    await session('old-finished-late', 10, { transcribed_at: ago(2) });
    await session('young', 3);
    await session('old-incomplete', 10, { state: 'transcribing' });
    await writeTalk(daemon.file('old-incomplete', 'audio', 'room.wav'), 2);
    // What a kill in the middle of a deletion leaves.
    await cp(daemon.file('old'), daemon.file('.trash-0123456789abcdef'), { recursive: true });
    await daemon.start();

    const { warnings } = await daemon.status();
    expect(warnings).toMatchObject([{ code: 'audio_kept', message: expect.stringContaining('old-incomplete'), hint: expect.any(String) }]);
    expect(warnings[0]?.message).not.toMatch(/pinned|late|young/);
    const log = readdirSync(daemon.paths.logs).map((name) => readFileSync(path.join(daemon.paths.logs, name), 'utf8')).join(''); // biome-ignore format: one line
    expect(log).toContain('"sessions":["old-incomplete"]');
    const kept = ['old-pinned', 'old-finished-late', 'young', 'old-incomplete'];
    expect(Object.fromEntries(['old', 'old-cut', ...kept].map((id) => [id, hasAudio(id)]))).toEqual({
      old: false,
      'old-cut': false,
      ...Object.fromEntries(kept.map((id) => [id, true])),
    });
    expect(daemon.sessionFile('old')).toMatchObject({ state: 'done', audio_deleted_at: expect.any(String) });
    expect((await runHere(daemon.paths.home, ['show', 'old'])).stdout).toContain('Words of old.');
    expect(readdirSync(daemon.paths.sessions).sort()).toEqual(['old', 'old-cut', ...kept].sort());
  });

  it('is kept for its days once the transcript is complete after all, and nothing warns any more', async () => {
    await daemon.finished('old-incomplete');
    await until(async () => (await daemon.status()).warnings.length === 0, 'the warning to go');
    expect(hasAudio('old-incomplete')).toBe(true);
    expect(daemon.sessionFile('old-incomplete').transcribed_at).toMatch(/^20/);
  });

  it('is not deleted while it is being recorded or transcribed, whoever asks', async () => {
    const id = await daemon.record(BOTH);
    for (const args of [
      ['delete', 'live', '--audio', '--yes'],
      ['delete', id, '--yes'],
    ]) {
      const { code, stderr } = await runHere(daemon.paths.home, args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^ambientctl: [^\n]+\. [^\n]+\n$/);
    }
    expect((await daemon.status()).live?.id).toBe(id);
    expect(hasAudio(id)).toBe(true);
    await daemon.client.call('setConfig', { body: { key: 'audio_retention_days', value: 0 } });
    await daemon.heard(id, 1);
    await daemon.stopRecording();
    await daemon.finished(id);
    await until(() => !hasAudio(id), 'the audio to be deleted right after the transcript');
    expect((await daemon.lines(id)).length).toBeGreaterThan(0);
    // Nothing outlives 0 days but what is pinned.
    await until(() => !hasAudio('young'), 'the other audio to be deleted');
    expect(hasAudio('old-pinned')).toBe(true);
  });

  it('of several imports is deleted right after each transcript', async () => {
    const { imports } = await daemon.client.call('import', { body: { files: [ROOM, ROOM] } });
    for (const { id } of imports) {
      await daemon.finished(id);
      await until(() => !hasAudio(id), `the audio of ${id} to be deleted`);
      expect((await daemon.lines(id)).length).toBeGreaterThan(3);
    }
  });

  it('goes with its session when that is deleted while it is transcribed, and recognition goes on with the next', async () => {
    const talk = path.join(daemon.paths.home, 'talk.wav');
    await writeTalk(talk, 3);
    const { imports } = await daemon.client.call('import', { body: { files: [talk, ROOM] } });
    const [first, second] = imports.map(({ id }) => id);
    await daemon.heard(first ?? '', 1);
    expect((await runHere(daemon.paths.home, ['delete', first ?? '', '--yes'])).code).toBe(0);
    expect(existsSync(daemon.file(first ?? ''))).toBe(false);
    await daemon.finished(second ?? '');
    await until(async () => (await daemon.status()).lag_s === 0, 'nothing to be left to do');
    expect(await daemon.status()).toMatchObject({ awaiting_transcript: 0, recognizer: { state: 'ready' } });
  });
});
