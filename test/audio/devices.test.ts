import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CaptureKit, openCaptureKit, readTrack, rms, startRequest, until } from './kit.js';
import { type PrivatePulse, startPulse } from './pulse.js';
import { tone } from './speech.js';

describe('recording from devices', () => {
  let pulse: PrivatePulse;
  let kit: CaptureKit;
  let dir: string;
  const before = { ...process.env };

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'tone-'));
    await tone(path.join(dir, 'low.wav'), 300, 60);
    await tone(path.join(dir, 'high.wav'), 1200, 60);
    pulse = await startPulse();
    Object.assign(process.env, pulse.env);
  });
  afterAll(async () => {
    await pulse.stop();
    process.env = before;
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    kit = await openCaptureKit();
  });
  afterEach(() => kit.stop());

  it('records the microphone and what plays as two tracks told apart', async () => {
    const low = pulse.playing(path.join(dir, 'low.wav'), 'mic');
    const high = pulse.playing(path.join(dir, 'high.wav'), 'speakers');
    const started = await kit.recorder.start(startRequest({ name: 'two tracks' }));
    expect(started.tracks).toEqual(['room', 'call']);
    await until(() => (kit.recorder.live()?.elapsed_ms ?? 0) > 3000, '3 s of recording');
    const stopped = await kit.recorder.stop();
    low.stop();
    high.stop();
    const file = (await kit.store.get(started.id)).file;
    console.log(JSON.stringify(file, null, 1), stopped);
    for (const track of ['room', 'call'] as const) {
      const { samples, declared } = await readTrack(started.dir, track);
      console.log(track, samples.length, declared, rms(samples, 16000, 32000));
    }
  });
});
