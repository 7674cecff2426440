import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireTools } from '../support/require-tool.js';
import { until } from './kit.js';
import { type PrivatePulse, startPulse } from './pulse.js';

const run = promisify(execFile);
const DAEMON = fileURLToPath(new URL('../../services/daemon/bin/ambientd.js', import.meta.url));
const speech = (track: string): string => fileURLToPath(new URL(`../fixtures/conversation/${track}.wav`, import.meta.url));
/** The first question and its answer, seconds. */
const LENGTH = 10;

describe.skipIf(!requireTools(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox']))('a conversation through real devices', () => {
  let pulse: PrivatePulse;
  let home: string;
  let daemon: ChildProcess;
  let client: AmbientClient;

  beforeAll(async () => {
    home = await mkdtemp(path.join(os.tmpdir(), 'two-'));
    for (const track of ['room', 'call']) await run('sox', [speech(track), path.join(home, `${track}.wav`), 'trim', '0', String(LENGTH)]);
    pulse = await startPulse();
    daemon = spawn(process.execPath, [DAEMON], { env: { ...process.env, ...pulse.env, AMBIENT_HOME: home }, stdio: 'ignore' });
    client = new AmbientClient(homePaths(home, process.getuid?.() ?? 0).controlSocket);
    await until(() => client.isAlive(), 'the daemon');
  });
  afterAll(async () => {
    if (daemon.exitCode === null) {
      const gone = new Promise((resolve) => daemon.once('exit', resolve));
      daemon.kill('SIGTERM');
      await gone;
    }
    await pulse.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('transcribes what the microphone hears and what plays, each on its own track', async () => {
    const started = await client.call('start', { body: { name: 'Über zwei Spuren' } });
    expect(started).toMatchObject({ tracks: ['room', 'call'], warnings: [] });
    await Promise.all([pulse.play(path.join(home, 'room.wav'), 'mic'), pulse.play(path.join(home, 'call.wav'), 'speakers')]);
    await client.call('stop', { body: {} });
    const detail = () => client.call('session', { params: { session: started.id } });
    await until(async () => (await detail()).summary.state === 'done', 'the transcript', 60_000);
    const { lines } = await client.call('transcript', { params: { session: started.id }, query: {} });
    const said = (track: string): string =>
      lines
        .filter((line) => line.track === track)
        .map((line) => line.text)
        .join(' ');
    expect(said('room')).toMatch(/migration finish/i);
    expect(said('room')).not.toMatch(/report/i);
    expect(said('call')).toMatch(/weekly report/i);
    expect(said('call')).not.toMatch(/migration/i);
    const { file } = await detail();
    expect(file).toMatchObject({ coverage: [], warnings: [], tracks: { room: { recorder: 'sox' }, call: { recorder: 'parec' } } });
  });
});
