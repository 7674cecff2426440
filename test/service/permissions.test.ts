import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diagnoseSilence, type SilenceFacts } from '../../packages/cli/src/service/macos/diagnose.js';
import { StandIns } from './stand-ins.js';

const ASK = fileURLToPath(new URL('../../packages/cli/dist/service/macos/ask-main.js', import.meta.url));

describe('asking for the microphone', () => {
  let dir: string;
  let standIns: StandIns;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'ask-'));
    standIns = new StandIns(dir);
    await standIns.add('sox', 'audiotee');
  });
  afterEach(() => rm(dir, { recursive: true }));

  async function ask(audiotee: string, seconds: string, searchPath = standIns.path): Promise<unknown> {
    const answer = path.join(dir, 'answer.json');
    await promisify(execFile)(process.execPath, [ASK, answer, audiotee, seconds], { env: { PATH: searchPath } });
    return JSON.parse(await readFile(answer, 'utf8'));
  }

  it('opens the microphone until it gives more than zeros, then system audio once', async () => {
    await standIns.once('sox', 'raw', { run: "printf '\\000\\000\\000\\000'" });
    await standIns.once('sox', 'raw', { run: "printf '\\000\\001\\000\\000'" });
    await standIns.once('audiotee', '16000', { run: "printf '\\000\\000'" });
    expect(await ask(path.join(standIns.bin, 'audiotee'), '20')).toEqual({ microphone: 'heard', system_audio: 'opened' });
    expect((await standIns.calls()).map(([name]) => name)).toEqual(['sox', 'sox', 'audiotee']);
  });

  it('gives up on a microphone that stays silent', async () => {
    await standIns.always('sox', 'raw', { run: "printf '\\000\\000'" });
    expect(await ask(path.join(standIns.bin, 'audiotee'), '0')).toEqual({ microphone: 'silent', system_audio: 'failed' });
  });

  it('says when there is nothing to record with', async () => {
    await rm(path.join(standIns.bin, 'sox'));
    expect(await ask('-', '5', standIns.bin)).toEqual({ microphone: 'no_recorder', system_audio: 'no_recorder' });
  });
});

describe('zeros on a track', () => {
  const healthy: SilenceFacts = {
    track: 'room',
    sounding: true,
    executable: '/Users/u/Applications/Ambient.app/Contents/MacOS/ambientd',
    bundleExecutable: '/Users/u/Applications/Ambient.app/Contents/MacOS/ambientd',
    launchedAs: null,
    staleness: null,
  };
  const verdicts = (facts: Partial<SilenceFacts>): Record<string, string> =>
    Object.fromEntries(diagnoseSilence({ ...healthy, ...facts }).map(({ cause, verdict }) => [cause, verdict]));

  it('are looked into in this order, each cause with its panel or command', () => {
    const suspicions = diagnoseSilence(healthy);
    expect(suspicions.map(({ cause }) => cause)).toEqual([
      'missing_grant',
      'wrong_launch',
      'changed_signature',
      'denied_by_profile',
      'silent_source',
    ]);
    expect(suspicions.map(({ fix }) => fix)).toEqual([
      expect.stringMatching(/Privacy & Security → Microphone.*tccutil reset Microphone io\.ambient\.daemon/),
      expect.stringContaining('--launch open'),
      expect.stringContaining('ambientctl daemon install'),
      expect.stringContaining('profiles show'),
      expect.stringContaining('Sound → Input'),
    ]);
    expect(diagnoseSilence({ ...healthy, track: 'call' })[0]?.fix).toMatch(/Screen & System Audio Recording.*tccutil reset AudioCapture/);
  });

  it('with everything in its place leave the grant and the profile to suspect', () => {
    expect(verdicts({})).toEqual({
      missing_grant: 'possible',
      wrong_launch: 'ruled_out',
      changed_signature: 'ruled_out',
      denied_by_profile: 'possible',
      silent_source: 'ruled_out',
    });
  });

  it('from a daemon outside its bundle, or started under another name, are a wrong launch', () => {
    expect(verdicts({ executable: '/usr/local/bin/node' }).wrong_launch).toBe('found');
    expect(verdicts({ bundleExecutable: null }).wrong_launch).toBe('found');
    expect(verdicts({ launchedAs: 'com.apple.Terminal' }).wrong_launch).toBe('found');
    expect(verdicts({ launchedAs: 'io.ambient.daemon' }).wrong_launch).toBe('ruled_out');
  });

  it('after a change of the bundle are a changed signature', () => {
    expect(verdicts({ staleness: 'node has been replaced since it was built' }).changed_signature).toBe('found');
  });

  it('while nothing plays are a silent source and no fault', () => {
    expect(verdicts({ sounding: false })).toMatchObject({
      silent_source: 'found',
      missing_grant: 'ruled_out',
      denied_by_profile: 'ruled_out',
    });
  });
});
