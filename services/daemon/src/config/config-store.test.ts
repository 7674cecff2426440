import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigStore } from './config-store.js';

let dir: string;
let file: string;

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'cfg-'));
  file = path.join(dir, 'config.json');
});
afterEach(() => rm(dir, { recursive: true }));

async function store(env: Record<string, string> = {}, flags: Record<string, unknown> = {}): Promise<ConfigStore> {
  const config = new ConfigStore({ file, env, flags });
  await config.load();
  return config;
}

describe('ConfigStore', () => {
  it('takes the environment before a flag before the file before the default', async () => {
    await writeFile(file, '{"transcription.threads": 5}');
    const flags = { 'transcription.threads': 4 };
    expect((await store({ AMBIENT_TRANSCRIPTION_THREADS: '3' }, flags)).get('transcription.threads')).toBe(3);
    expect((await store({}, flags)).get('transcription.threads')).toBe(4);
    expect((await store()).get('transcription.threads')).toBe(5);
    await rm(file);
    expect((await store()).get('transcription.threads')).toBe(2);
    await writeFile(file, '{}');
  });

  it.each(['07', '0,5', '0x10', '30d', '1 week', '', ' ', '-1'])('refuses %j days of audio and changes nothing', async (value) => {
    const config = await store();
    await expect(config.set('audio_retention_days', value)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(/days from 0|forever|at least 0/),
    });
    expect(config.get('audio_retention_days')).toBe(7);
  });

  it.each([
    ['log.level', 'loud', 'log.level has to be one of: debug, info, warn, error.'],
    ['transcription.threads', '99', 'transcription.threads is 99; it may be at most 16.'],
    ['transcription.threads', 'two', 'transcription.threads has to be a number.'],
    ['mcp.enabled', '1', 'mcp.enabled has to be true or false.'],
    ['audio_retention_days', 'week', 'audio_retention_days takes a number of days from 0 to 36500, or "forever".'],
  ])('says what %s takes when given %j', async (key, value, message) =>
    expect((await store()).set(key, value)).rejects.toMatchObject({ message }),
  );

  it('says what was changed in the file since it was read, until it is read again or changed back', async () => {
    await writeFile(file, '{"transcription.threads": 3}');
    const config = await store({ AMBIENT_LOG_LEVEL: 'warn' });
    expect(await config.drift()).toBeUndefined();
    await writeFile(file, '{"transcription.threads": 4, "log.level": "debug"}');
    expect(await config.drift()).toEqual({
      message: `Changed in ${file} since the daemon read it: transcription.threads.`,
      hint: expect.stringContaining('daemon restart'),
    });
    await writeFile(file, '{"transcription.threads": ');
    expect((await config.drift())?.message).toMatch(/cannot be read any more/);
    await writeFile(file, '{"transcription.threads": 3}');
    expect(await config.drift()).toBeUndefined();
    await rm(file);
    expect((await config.drift())?.message).toMatch(/transcription\.threads/);
    await config.load();
    expect(await config.drift()).toBeUndefined();
  });

  it('takes null for a setting that may be unset as no value, also when it is spelled', async () => {
    const config = await store();
    await config.set('audio.device', 'hw:1');
    expect(config.get('audio.device')).toBe('hw:1');
    await config.set('audio.device', 'null');
    expect(config.get('audio.device')).toBeNull();
    expect((await store({ AMBIENT_AUDIO_DEVICE: 'null' })).get('audio.device')).toBeNull();
    await expect(config.set('audio.device', '')).rejects.toMatchObject({ code: 'bad_request' });
  });

  it('keeps and names unknown keys, and says where a broken file is broken without changing it', async () => {
    await writeFile(file, '{"colour": "red"}');
    const config = await store();
    expect(config.unknownKeys()).toEqual(['colour']);
    await config.set('transcription.threads', '3');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ colour: 'red', 'transcription.threads': 3 });

    await writeFile(file, '{\n  "transcription.threads": 3,\n  oops\n}');
    const broken = await store();
    expect(broken.warnings()[0]).toMatch(/line 3, column 3/);
    expect(broken.get('transcription.threads')).toBe(2);
    await expect(broken.set('transcription.threads', 4)).rejects.toMatchObject({ code: 'bad_config' });
    expect(await readFile(file, 'utf8')).toContain('oops');
  });

  it('is in doubt about a setting when not all that was said about it could be read', async () => {
    const doubts = async (text: string, env = {}): Promise<boolean> => {
      await writeFile(file, text);
      return (await store(env)).isDoubtful('audio_retention_days');
    };
    expect(await doubts('{"audio_retention_days": "forever"}')).toBe(false);
    expect(await doubts('{"transcription.threads": 99}')).toBe(false);
    expect(await doubts('{"audio_retention_days": "for ever"}')).toBe(true);
    expect(await doubts('{"audio_retention_days": "forever",}x')).toBe(true);
    expect(await doubts('{"audio_retention_days": 30}', { AMBIENT_AUDIO_RETENTION_DAYS: '30d' })).toBe(true);
    expect(await doubts('oops', { AMBIENT_AUDIO_RETENTION_DAYS: '30' })).toBe(false);
  });
});
