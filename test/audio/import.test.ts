import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { AmbientError, type ImportStatus } from '@ambient/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FileImporter } from '../../services/daemon/src/capture/import/file-importer.js';
import { requireTools } from '../support/require-tool.js';
import { type CaptureKit, openCaptureKit, readTrack, rms, until } from './kit.js';
import { speak, tone } from './speech.js';

const run = promisify(execFile);
const ffmpeg = (...args: string[]) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);

describe.skipIf(!requireTools(['ffmpeg', 'ffprobe', 'espeak-ng']))('importing files', () => {
  let dir: string;
  let kit: CaptureKit;
  let importer: FileImporter;
  const at = (name: string): string => path.join(dir, name);
  const bring = async (file: string, options: { name?: string; splitChannels?: boolean } = {}): Promise<ImportStatus> => {
    const [status] = await importer.import([file], { name: options.name ?? null, splitChannels: options.splitChannels ?? false });
    if (status === undefined) throw new Error('no status');
    const find = (): ImportStatus | undefined => importer.list().find(({ id }) => id === status.id);
    await until(() => find()?.state === 'done' || find()?.state === 'failed', `import of ${file}`);
    return find() ?? status;
  };
  const sessionOf = async (status: ImportStatus) => (await kit.store.get(status.id)).file;
  const refusal = async (file: string): Promise<AmbientError> => {
    const error = await importer.import([file], { name: null, splitChannels: false }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(AmbientError);
    expect(await kit.store.ids()).toEqual([]);
    return error as AmbientError;
  };

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'imp-'));
    await speak('The quick brown fox jumps over the lazy dog.', at('speech.wav'));
    await tone(at('left.wav'), 300, 3);
    await tone(at('right.wav'), 1200, 3);
    await ffmpeg('-i', at('left.wav'), '-i', at('right.wav'), '-filter_complex', 'amerge', '-ac', '2', '-ar', '44100', at('stereo.wav'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    kit = await openCaptureKit();
    importer = new FileImporter(kit.ports);
  });
  afterEach(async () => {
    await importer.stop();
    await kit.stop();
  });

  it.each([
    ['tone.mp3', ['-b:a', '64k']],
    ['tone.m4a', []],
    ['tone.opus', []],
    ['tone.ogg', []],
    ['tone.flac', []],
    ['8k.wav', ['-ar', '8000']],
    ['96k.wav', ['-ar', '96000']],
    ['24.wav', ['-ar', '16000', '-c:a', 'pcm_s24le']],
    ['float.wav', ['-ar', '16000', '-c:a', 'pcm_f32le']],
    ['mulaw.wav', ['-ar', '8000', '-c:a', 'pcm_mulaw']],
    ['native.wav', ['-ar', '16000', '-ac', '2']],
  ])('decodes %s to 16 kHz with its full length', async (name, args) => {
    await ffmpeg('-i', at('left.wav'), ...args, at(name));
    const status = await bring(at(name));
    expect(status).toMatchObject({ state: 'done', error: null });
    const file = await sessionOf(status);
    expect(file).toMatchObject({ state: 'transcribing', origin: 'import', source_file: at(name), warnings: [] });
    expect(file.duration_s).toBeGreaterThan(2.95);
    expect(file.duration_s).toBeLessThan(3.1);
    const { samples, declared } = await readTrack(path.join(kit.store.dir, status.id), 'room');
    expect(declared).toBe(samples.length);
    expect(file.tracks.room?.samples).toBe(samples.length);
    expect(rms(samples, 16000, 32000)).toBeGreaterThan(8000);
  });

  it('takes an MP4 that is called .mp3 for what it is', async () => {
    await ffmpeg('-i', at('left.wav'), '-f', 'mp4', at('really.mp3'));
    expect(await bring(at('really.mp3'))).toMatchObject({ state: 'done' });
  });

  it('makes left the room and right the call when channels are split', async () => {
    const status = await bring(at('stereo.wav'), { splitChannels: true });
    const file = await sessionOf(status);
    expect(Object.keys(file.tracks)).toEqual(['room', 'call']);
    const room = await readTrack(path.join(kit.store.dir, status.id), 'room');
    const call = await readTrack(path.join(kit.store.dir, status.id), 'call');
    expect(crossings(room.samples) / 3).toBeCloseTo(600, -1);
    expect(crossings(call.samples) / 3).toBeCloseTo(2400, -1);
  });

  it('names the session after the file, or as it was told', async () => {
    expect((await sessionOf(await bring(at('left.wav')))).name).toBe('left');
    expect((await sessionOf(await bring(at('left.wav'), { name: 'Überblick' }))).name).toBe('Überblick');
  });

  it('keeps what decodes of a truncated file, with a warning', async () => {
    await ffmpeg('-i', at('left.wav'), at('cut.flac'));
    await truncate(at('cut.flac'), Math.floor((await readFile(at('cut.flac'))).length / 2));
    const flac = await sessionOf(await bring(at('cut.flac')));
    expect(flac.duration_s).toBeGreaterThan(0.5);
    expect(flac.warnings.map((w) => w.code)).toEqual(['import_truncated']);
    await copyFile(at('left.wav'), at('cut.wav'));
    await truncate(at('cut.wav'), 44 + 16000 * 2);
    const wav = await sessionOf(await bring(at('cut.wav')));
    expect(wav.duration_s).toBe(1);
    expect(wav.warnings.map((w) => w.code)).toEqual(['import_truncated']);
    // One that ffmpeg has to read: ffmpeg itself goes by what is there, and complains of nothing.
    await ffmpeg('-i', at('left.wav'), '-ar', '22050', at('cut22.wav'));
    const { length } = await readFile(at('cut22.wav'));
    await truncate(at('cut22.wav'), length - 22_050 * 2);
    const resampled = await sessionOf(await bring(at('cut22.wav')));
    expect(resampled.warnings).toMatchObject([
      { code: 'import_truncated', message: expect.stringContaining('(1 s at its end are missing)') },
    ]);
  });

  it('takes the length that a program writes when it streams for no promise', async () => {
    const { stdout } = await run('espeak-ng', ['--stdout', 'Good morning to all of you.'], { encoding: 'buffer' });
    await writeFile(at('streamed.wav'), stdout);
    expect((await sessionOf(await bring(at('streamed.wav')))).warnings).toEqual([]);
  });

  it('refuses what is no audio in one line that names the file, and leaves no session', async () => {
    await writeFile(at('text.wav'), 'This is a text, not a recording.\n'.repeat(50));
    await writeFile(at('empty.wav'), '');
    await writeFile(at('list.wav'), '#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n');
    expect(await refusal(at('text.wav'))).toMatchObject({ code: 'bad_audio', message: expect.stringContaining('text.wav') });
    expect(await refusal(at('empty.wav'))).toMatchObject({ code: 'bad_audio', message: 'empty.wav is empty.' });
    expect(await refusal(at('list.wav'))).toMatchObject({ code: 'bad_audio' });
    expect(await refusal(dir)).toMatchObject({ code: 'bad_audio', message: expect.stringContaining('is a folder') });
    expect(await refusal(at('missing.wav'))).toMatchObject({ code: 'not_found' });
  });

  it('needs no ffmpeg for a 16 kHz WAV file, and says how to install it for any other', async () => {
    const before = process.env.PATH;
    process.env.PATH = dir;
    try {
      expect(await bring(at('left.wav'))).toMatchObject({ state: 'done' });
      await kit.store.remove((await kit.store.ids())[0] ?? '');
      expect(await refusal(at('speech.wav'))).toMatchObject({ code: 'missing_tool', hint: expect.stringContaining('install ffmpeg') });
    } finally {
      process.env.PATH = before;
    }
  });

  it('decodes an interrupted import again into the same samples after a restart', async () => {
    const whole = await readTrack(path.join(kit.store.dir, (await bring(at('speech.wav'))).id), 'room');
    const again = await unfinished(at('speech.wav'));
    await writeFile(path.join(again.audioDir, 'room.wav'), Buffer.alloc(1000, 1));
    await importer.resumeImports();
    await until(() => importer.list().some(({ id, state }) => id === again.id && state === 'done'), 'the resumed import');
    expect((await readTrack(again.dir, 'room')).samples).toEqual(whole.samples);
    expect((await kit.store.get(again.id)).file).toMatchObject({ state: 'transcribing', warnings: [] });
  });

  it('keeps the decoded part of an interrupted import whose file is gone', async () => {
    const session = await unfinished(at('gone.wav'));
    await writeFile(path.join(session.audioDir, 'room.wav'), Buffer.concat([(await readFile(at('left.wav'))).subarray(0, 44 + 32000)]));
    await importer.resumeImports();
    await until(() => importer.list()[0]?.state === 'done', 'the resumed import');
    const { file } = await kit.store.get(session.id);
    expect(file).toMatchObject({ state: 'transcribing', duration_s: 1 });
    expect(file.warnings).toMatchObject([{ code: 'interrupted', message: expect.stringContaining('gone.wav') }]);
    expect(kit.feeds.get(session.id)?.[0]?.available()).toBe(16000);
  });

  it('decodes two hours in bounded memory, and resumes nothing after a clean end', async () => {
    await ffmpeg('-f', 'lavfi', '-i', 'sine=frequency=300:duration=7200:sample_rate=16000', '-c:a', 'flac', at('two-hours.flac'));
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    const status = await bring(at('two-hours.flac'));
    clearInterval(timer);
    expect(await sessionOf(status)).toMatchObject({ duration_s: 7200, warnings: [] });
    // The audio is 230 MB.
    expect(most - before).toBeLessThan(120 * 1024 * 1024);
    const next = new FileImporter(kit.ports);
    await next.resumeImports();
    expect(next.list()).toEqual([]);
  });

  it('leaves an import that is cut by a stop to the next start, which finishes it', async () => {
    await ffmpeg('-f', 'lavfi', '-i', 'sine=frequency=300:duration=1200:sample_rate=16000', '-c:a', 'flac', at('twenty.flac'));
    const [status] = await importer.import([at('twenty.flac')], { name: null, splitChannels: false });
    await until(async () => (kit.feeds.get(status?.id ?? '')?.[0]?.available() ?? 0) > 0, 'the first samples');
    await importer.stop();
    expect((await kit.store.get(status?.id ?? '')).file).toMatchObject({ state: 'pending', ended_at: null });
    importer = new FileImporter(kit.ports);
    await importer.resumeImports();
    await until(() => importer.list()[0]?.state === 'done', 'the rest');
    expect((await kit.store.get(status?.id ?? '')).file).toMatchObject({ state: 'transcribing', duration_s: 1200, warnings: [] });
  });

  function unfinished(sourceFile: string) {
    const info = { source: 'file' as const, recorder: null, device: null, sample_rate: 16000, offset_ms: 0, samples: 0 };
    return kit.store.create({
      name: null,
      origin: 'import',
      sourceFile,
      startedAt: new Date(),
      tracks: { room: info },
      model: null,
      state: 'pending',
    });
  }
});

function crossings(samples: Int16Array): number {
  let count = 0;
  for (let i = 1; i < samples.length; i++) if ((samples[i - 1] ?? 0) < 0 !== (samples[i] ?? 0) < 0) count++;
  return count;
}
