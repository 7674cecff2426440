import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Track } from '@ambient/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../services/daemon/src/platform/clock.js';
import { canMount } from '../support/mount.js';
import { requireTools } from '../support/require-tool.js';
import { type CaptureKit, openCaptureKit, readTrack, rms, startRequest, strength, until } from './kit.js';
import { type PrivatePulse, startPulse } from './pulse.js';
import { tone } from './speech.js';

const run = promisify(execFile);
const EMPTY = path.join(os.tmpdir(), 'no-such-folder-of-programs');

describe.skipIf(!requireTools(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox']))('capture when things go wrong', () => {
  let pulse: PrivatePulse;
  let kit: CaptureKit;
  let dir: string;
  let bootOffset: number;
  const before = { ...process.env };
  const low = (): string => path.join(dir, 'low.wav');

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'tone-'));
    await tone(low(), 300, 120);
    pulse = await startPulse();
    pulse.playing(low(), 'mic');
  });
  afterAll(async () => {
    await pulse.stop();
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    Object.assign(process.env, pulse.env);
    bootOffset = 0;
    const clock = {
      ...systemClock,
      now: () => new Date(Date.now() + bootOffset),
      sinceBootMs: () => systemClock.monotonicMs() + bootOffset,
    };
    kit = await openCaptureKit({}, os.tmpdir(), clock);
  });
  afterEach(async () => {
    await kit.stop();
    for (const name of Object.keys(pulse.env)) delete process.env[name];
    Object.assign(process.env, before);
  });

  const elapsed = (): number => kit.recorder.live()?.elapsed_ms ?? 0;
  const recorded = (ms: number): Promise<void> => until(() => elapsed() >= ms, `${ms} ms of recording`);
  const over = (): Promise<void> => until(() => kit.recorder.live() === null, 'the recording to end by itself');
  const gapsOf = (track: Track) => kit.recorder.gaps().filter((gap) => gap.track === track);

  it('restarts the recorders after sleep; what is heard then stands at its true time', async () => {
    const started = await kit.recorder.start(startRequest({ system: false }));
    await recorded(1000);
    bootOffset += 20_000;
    await recorded(23_000);
    const stopped = await kit.recorder.stop();
    const session = await kit.store.get(started.id);
    expect(stopped.duration_s).toBeGreaterThan(22.5);
    const [gap] = session.file.coverage;
    expect(session.file.coverage).toMatchObject([{ track: 'room', reason: 'sleep' }]);
    expect((gap?.to_ms ?? 0) - (gap?.from_ms ?? 0)).toBeGreaterThan(20_000);
    expect(session.file.warnings).toMatchObject([{ code: 'sleep', track: 'room' }]);
    const { samples } = await readTrack(started.dir, 'room');
    expect(rms(samples, (gap?.from_ms ?? 0) * 16, (gap?.to_ms ?? 0) * 16)).toBe(0);
    expect(strength(samples.subarray((gap?.to_ms ?? 0) * 16), 300)).toBeGreaterThan(5000);
  });

  it('takes no notice of a wall clock that is set', async () => {
    const started = await kit.recorder.start(startRequest({ system: false }));
    await recorded(500);
    const realNow = Date.now;
    Date.now = () => realNow() + 3_600_000;
    try {
      await recorded(2000);
    } finally {
      Date.now = realNow;
    }
    const stopped = await kit.recorder.stop();
    expect(stopped.duration_s).toBeLessThan(10);
    expect((await kit.store.get(started.id)).file).toMatchObject({ coverage: [], warnings: [] });
  });

  it('starts with the call alone while there is no microphone, and lets it join when it comes', async () => {
    // The default microphone names a source that is not there yet.
    process.env.PULSE_SOURCE = 'later.monitor';
    const started = await kit.recorder.start(startRequest());
    expect(started.tracks).toEqual(['room', 'call']);
    expect(started.warnings).toMatchObject([{ code: 'no_microphone', track: 'room', hint: expect.stringContaining('--no-mic') }]);
    await pulse.addSink('later');
    pulse.playing(low(), 'later');
    await until(() => gapsOf('room').some((gap) => elapsed() > gap.to_ms + 1000), 'the microphone to join');
    await kit.recorder.stop();
    delete process.env.PULSE_SOURCE;
    const session = await kit.store.get(started.id);
    expect(session.file.coverage).toMatchObject([{ track: 'room', from_ms: 0, reason: 'not_started' }]);
    const { samples } = await readTrack(started.dir, 'room');
    expect(strength(samples.subarray((session.file.coverage[0]?.to_ms ?? 0) * 16), 300)).toBeGreaterThan(5000);
  });

  it('says what to install where no recorder is, and leaves no session', async () => {
    process.env.PATH = EMPTY;
    await expect(kit.recorder.start(startRequest())).rejects.toMatchObject({
      code: 'missing_tool',
      // One command for all that is missing.
      hint: expect.stringMatching(/^[\w ]*install sox pulseaudio-utils$/),
    });
    await expect(kit.recorder.start(startRequest({ mic: false }))).rejects.toMatchObject({
      code: 'missing_tool',
      hint: expect.stringContaining('pulseaudio-utils'),
    });
    expect(await kit.store.ids()).toEqual([]);
  });

  it('says that there is no device where none is, and leaves no session', async () => {
    process.env.PULSE_SERVER = 'unix:/nonexistent';
    await expect(kit.recorder.start(startRequest())).rejects.toMatchObject({ code: 'no_source' });
    await expect(kit.recorder.start(startRequest({ mic: false, system: false }))).rejects.toMatchObject({ code: 'bad_request' });
    expect(await kit.store.ids()).toEqual([]);
  });

  it('goes on to the next recorder when the first gives nothing', async () => {
    const bin = path.join(dir, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(path.join(bin, 'sox'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    await writeFile(path.join(bin, 'arecord'), '#!/bin/sh\necho "device busy" >&2\nexit 1\n', { mode: 0o755 });
    process.env.PATH = `${bin}:${process.env.PATH}`;
    const started = await kit.recorder.start(startRequest({ system: false }));
    expect((await kit.store.get(started.id)).file.tracks.room).toMatchObject({ recorder: 'parec', device: 'mic.monitor' });
    expect((await run('ps', ['-eo', 'ppid=,comm='])).stdout).not.toMatch(new RegExp(`^ *${process.pid} sleep`, 'm'));
    await kit.recorder.stop();
    kit.config['audio.recorder'] = 'arecord';
    await expect(kit.recorder.start(startRequest({ system: false }))).rejects.toMatchObject({
      code: 'no_source',
      message: expect.stringContaining('device busy'),
    });
  });

  it('refuses a microphone that gives samples as fast as they are read, and leaves no session', async () => {
    await expect(kit.recorder.start(startRequest({ system: false, device: 'null' }))).rejects.toMatchObject({
      code: 'no_source',
      message: expect.stringMatching(/null delivers \d+ times as many samples as time passes/),
      hint: expect.stringContaining('ambientctl devices'),
    });
    expect(await kit.store.ids()).toEqual([]);
  });

  it('leaves out what a microphone gives that runs away while it records, says so, and keeps the clock true', async () => {
    const bin = path.join(dir, 'runaway');
    await mkdir(bin, { recursive: true });
    const script =
      '#!/bin/sh\necho >> "$0.starts"\nfor i in 1 2 3 4 5 6 7 8 9 10; do head -c 3200 /dev/zero; sleep 0.1; done\nexec cat /dev/zero\n';
    await writeFile(path.join(bin, 'arecord'), script, { mode: 0o755 });
    process.env.PATH = `${bin}:${process.env.PATH}`;
    kit.config['audio.recorder'] = 'arecord';
    const started = await kit.recorder.start(startRequest({ system: false }));
    await recorded(5000);
    const stopped = await kit.recorder.stop();
    const { warnings } = (await kit.store.get(started.id)).file;
    expect(warnings).toMatchObject([{ code: 'too_fast', track: 'room', message: expect.stringMatching(/arecord delivers .* samples/) }]);
    expect((await readFile(path.join(bin, 'arecord.starts'), 'utf8')).length).toBeGreaterThan(1);
    expect(warnings[0]?.hint).toContain('ambientctl devices');
    expect(Math.abs(stopped.duration_s - 5)).toBeLessThan(2.5);
    expect((await readTrack(started.dir, 'room')).samples.length / 16_000).toBeCloseTo(stopped.duration_s, 2);
  });

  it('warns of a call that is silent although something plays, naming where it plays', async () => {
    await pulse.addSink('headset');
    const { judgePulseCall } = await import('../../services/daemon/src/capture/silence-watch.js');
    const call = {
      track: 'call' as const,
      info: { source: 'system' as const },
      device: 'speakers.monitor',
      delivering: true,
      takePeak: () => -120,
    };
    // The tone for the microphone is no matter: it plays on what stands for the microphone.
    expect(await judgePulseCall(call)).toMatchObject({ message: expect.stringContaining('speakers is recorded') });
    const muted = pulse.playing(low(), 'speakers');
    await until(async () => (await pulse.pactl('list', 'short', 'sink-inputs')).split('\n').length > 1, 'the player');
    expect(await judgePulseCall(call)).toMatchObject({ message: expect.stringContaining('speakers is silent') });
    muted.stop();
  });

  it('warns early of low space, and stops with everything valid when it is gone', async () => {
    const started = await kit.recorder.start(startRequest({ system: false }));
    kit.config['disk.low_mb'] = 1e9;
    await until(async () => (await kit.store.get(started.id)).file.warnings.length > 0, 'the warning');
    expect(kit.recorder.live()).not.toBeNull();
    kit.config['disk.stop_mb'] = 1e9;
    await over();
    const session = await kit.store.get(started.id);
    expect(session.file).toMatchObject({ state: 'transcribing', coverage: [{ track: 'room', reason: 'disk_full' }] });
    expect(session.file.warnings.map(({ code }) => code)).toEqual(['disk_low', 'disk_full']);
    const { samples, declared } = await readTrack(started.dir, 'room');
    expect(declared).toBe(samples.length);
    await expect(kit.recorder.start(startRequest({ system: false }))).rejects.toMatchObject({ code: 'disk_full' });
  });

  describe.skipIf(!canMount())('on a disk of 4 MiB', () => {
    let small: string;
    beforeEach(async () => {
      small = await mkdtemp(path.join(os.tmpdir(), 'disk-'));
      await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small]);
      await kit.stop();
      kit = await openCaptureKit({}, small);
    });
    afterEach(async () => {
      await kit.stop();
      await run('umount', ['-l', small]);
      await rm(small, { recursive: true, force: true });
    });

    it('keeps what fits, closes the session and says from where on nothing was kept', async () => {
      await writeFile(path.join(small, 'filler'), Buffer.alloc(3_750_000, 1));
      const started = await kit.recorder.start(startRequest({ system: false }));
      await over();
      const session = await kit.store.get(started.id);
      expect(session.file).toMatchObject({ state: 'transcribing', coverage: [{ track: 'room', reason: 'disk_full' }] });
      expect(session.file.warnings).toMatchObject([{ code: 'disk_full', hint: expect.stringContaining('Free some space') }]);
      const { samples, declared } = await readTrack(started.dir, 'room');
      expect(declared).toBe(samples.length);
      expect(session.file.tracks.room?.samples).toBe(samples.length);
      expect(session.file.duration_s).toBeCloseTo(samples.length / 16_000, 2);
      expect(samples.length).toBeGreaterThan(8000);
      expect(await readdir(kit.store.dir)).toEqual([started.id]);
    });
  });
});
