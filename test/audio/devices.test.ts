import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Track } from '@ambient/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requireTools } from '../support/require-tool.js';
import { type CaptureKit, openCaptureKit, readTrack, rms, startRequest, strength, until } from './kit.js';
import { type PrivatePulse, startPulse } from './pulse.js';
import { tone } from './speech.js';

const run = promisify(execFile);
const LOW = 300;
const HIGH = 1200;

describe.skipIf(!requireTools(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox']))('recording from devices', () => {
  let pulse: PrivatePulse;
  let kit: CaptureKit;
  let dir: string;
  const before = { ...process.env };
  const file = (name: string): string => path.join(dir, name);

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'tone-'));
    await tone(file('low.wav'), LOW, 120);
    await tone(file('high.wav'), HIGH, 120);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    pulse = await startPulse();
    Object.assign(process.env, pulse.env);
    kit = await openCaptureKit();
    pulse.playing(file('low.wav'), 'mic');
    pulse.playing(file('high.wav'), 'speakers');
  });
  afterEach(async () => {
    await kit.stop();
    await pulse.stop();
    for (const name of Object.keys(pulse.env)) delete process.env[name];
    Object.assign(process.env, before);
  });

  const elapsed = (): number => kit.recorder.live()?.elapsed_ms ?? 0;
  const recorded = (ms: number): Promise<void> => until(() => elapsed() >= ms, `${ms} ms of recording`);
  const gapsOf = (track: Track) => kit.recorder.gaps().filter((gap) => gap.track === track);
  /** Waits until a gap of the track has begun and ended. */
  const gapOver = (track: Track): Promise<void> =>
    until(() => {
      // One that still lasts grows with the clock.
      const last = gapsOf(track).at(-1);
      return last !== undefined && elapsed() > last.to_ms + 1500;
    }, `a gap of ${track}`);
  const signal = async (program: string, name: NodeJS.Signals): Promise<void> => {
    const { stdout } = await run('ps', ['-o', 'pid=,comm=', '--ppid', String(process.pid)]);
    const pid = stdout
      .split('\n')
      .find((line) => line.includes(program))
      ?.trim()
      .split(' ')[0];
    process.kill(Number(pid), name);
  };
  const sessionFile = async (id: string) => (await kit.store.get(id)).file;
  /** The track's samples at `[from, to)` ms on the session's clock. */
  const heard = async (id: string, track: Track, fromMs: number, toMs: number): Promise<Int16Array> => {
    const session = await kit.store.get(id);
    const offset = session.file.tracks[track]?.offset_ms ?? 0;
    const { samples } = await readTrack(session.dir, track);
    return samples.subarray(Math.max(0, (fromMs - offset) * 16), (toMs - offset) * 16);
  };

  it('records the microphone by sox and what plays by parec, as two tracks on one clock', async () => {
    const started = await kit.recorder.start(startRequest({ name: 'two tracks' }));
    expect(started).toMatchObject({ tracks: ['room', 'call'], already_running: false, warnings: [], name: 'two tracks' });
    await recorded(2500);
    expect(kit.recorder.levels()).toMatchObject({ room: { muted: false }, call: { muted: false } });
    expect(kit.recorder.levels().room?.rms_db).toBeGreaterThan(-15);
    const again = await kit.recorder.start(startRequest());
    expect(again).toMatchObject({ id: started.id, already_running: true });
    await expect(kit.recorder.stop('2020-01-01T0000')).rejects.toMatchObject({ code: 'conflict' });
    const stopped = await kit.recorder.stop();
    expect(kit.recorder.live()).toBeNull();
    const session = await sessionFile(started.id);
    expect(session).toMatchObject({ state: 'transcribing', warnings: [], coverage: [] });
    expect(session.tracks.room).toMatchObject({ source: 'mic', recorder: 'sox', device: 'mic.monitor' });
    expect(session.tracks.call).toMatchObject({ source: 'system', recorder: 'parec', device: 'speakers.monitor' });
    expect(Math.min(session.tracks.room?.offset_ms ?? 1, session.tracks.call?.offset_ms ?? 1)).toBe(0);
    expect(session.duration_s).toBe(stopped.duration_s);
    for (const [track, hz] of [
      ['room', LOW],
      ['call', HIGH],
    ] as const) {
      const { samples, declared } = await readTrack(started.dir, track);
      expect(declared).toBe(samples.length);
      expect(session.tracks[track]?.samples).toBe(samples.length);
      expect(strength(samples.subarray(16_000), hz)).toBeGreaterThan(10_000);
      expect(strength(samples.subarray(16_000), hz === LOW ? HIGH : LOW)).toBeLessThan(200);
      expect(
        kit.feeds
          .get(started.id)
          ?.find((feed) => feed.track === track)
          ?.ended(),
      ).toBe(true);
    }
    expect(kit.events.filter((event) => event.type === 'levels').length).toBeGreaterThan(6);
  });

  it('has what was heard on disk while it records', async () => {
    const started = await kit.recorder.start(startRequest());
    await recorded(2500);
    for (const track of ['room', 'call'] as const) {
      const at = elapsed();
      const { samples, declared } = await readTrack(started.dir, track);
      expect(declared).toBeGreaterThan(0);
      expect(at - samples.length / 16).toBeLessThan(1200);
    }
  });

  it('restarts a recorder that is killed; the hole is silence of the true length, and the other track goes on', async () => {
    const started = await kit.recorder.start(startRequest());
    await recorded(1500);
    await signal('sox', 'SIGKILL');
    await gapOver('room');
    await kit.recorder.stop();
    const session = await sessionFile(started.id);
    expect(session.coverage).toMatchObject([{ track: 'room', reason: 'recorder_died' }]);
    expect(session.warnings).toMatchObject([{ code: 'recorder_died', track: 'room', message: expect.stringContaining('SIGKILL') }]);
    const [gap] = session.coverage;
    if (gap === undefined) throw new Error('no gap');
    expect(rms(await heard(started.id, 'room', gap.from_ms, gap.to_ms))).toBe(0);
    expect(rms(await heard(started.id, 'room', gap.to_ms, gap.to_ms + 500))).toBeGreaterThan(5000);
    // The clock stayed true: both tracks end together.
    const ends = (['room', 'call'] as const).map(
      (track) => (session.tracks[track]?.offset_ms ?? 0) + (session.tracks[track]?.samples ?? 0) / 16,
    );
    expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBeLessThan(400);
  });

  it('restarts a recorder that lives but gives nothing', async () => {
    const started = await kit.recorder.start(startRequest());
    await recorded(1000);
    await signal('parec', 'SIGSTOP');
    await gapOver('call');
    await kit.recorder.stop();
    const session = await sessionFile(started.id);
    expect(session.coverage).toMatchObject([{ track: 'call', reason: 'recorder_stalled' }]);
    expect(session.warnings).toMatchObject([{ code: 'recorder_stalled', track: 'call' }]);
    const [gap] = session.coverage;
    expect(strength(await heard(started.id, 'call', gap?.to_ms ?? 0, (gap?.to_ms ?? 0) + 1000), HIGH)).toBeGreaterThan(5000);
  });

  it('follows the default output to another sink', async () => {
    await pulse.addSink('headset');
    await tone(file('third.wav'), 600, 60);
    pulse.playing(file('third.wav'), 'headset');
    const started = await kit.recorder.start(startRequest());
    await recorded(1500);
    await pulse.pactl('set-default-sink', 'headset');
    await gapOver('call');
    await kit.recorder.stop();
    const session = await sessionFile(started.id);
    expect(session.tracks.call?.device).toBe('headset.monitor');
    const gap = session.coverage.at(-1);
    expect(gap).toMatchObject({ track: 'call', reason: 'device_lost' });
    expect(strength(await heard(started.id, 'call', gap?.to_ms ?? 0, (gap?.to_ms ?? 0) + 1000), 600)).toBeGreaterThan(5000);
  });

  it('never records a microphone as the call when its sink vanishes, and goes on when an output is back', async () => {
    // What the sound server falls back to: a true input with a sound of its own.
    await pulse.pactl('load-module', 'module-sine-source', 'source_name=input', 'frequency=440');
    await pulse.pactl('set-default-source', 'input');
    const started = await kit.recorder.start(startRequest());
    await recorded(1500);
    await pulse.removeSink('speakers');
    await pulse.removeSink('mic');
    await until(() => gapsOf('call').some((gap) => gap.to_ms - gap.from_ms > 1500), 'the call to be lost');
    await pulse.addSink('speakers');
    await pulse.pactl('set-default-sink', 'speakers');
    pulse.playing(file('high.wav'), 'speakers');
    await gapOver('call');
    await kit.recorder.stop();
    const session = await sessionFile(started.id);
    const gap = session.coverage.find((g) => g.track === 'call');
    expect(gap?.reason).toBe('device_lost');
    expect(session.warnings.filter((w) => w.track === 'call')).toMatchObject([{ code: 'device_lost' }]);
    expect(strength(await heard(started.id, 'room', 0, 1500), 440)).toBeGreaterThan(5000);
    const call = await heard(started.id, 'call', 0, Number.POSITIVE_INFINITY);
    // Not a tenth of a second of the input's tone anywhere.
    for (let at = 0; at + 1600 <= call.length; at += 1600) {
      expect(strength(call.subarray(at, at + 1600), 440)).toBeLessThan(500);
    }
    expect(strength(await heard(started.id, 'call', gap?.to_ms ?? 0, (gap?.to_ms ?? 0) + 1000), HIGH)).toBeGreaterThan(5000);
  });

  it('notices that the sound server moved a pinned microphone, and records nothing else in its place', async () => {
    await pulse.addSink('usb');
    pulse.playing(file('low.wav'), 'usb');
    const started = await kit.recorder.start(startRequest({ device: 'usb.monitor', system: false }));
    expect((await sessionFile(started.id)).tracks.room?.device).toBe('usb.monitor');
    await recorded(1000);
    await pulse.removeSink('usb');
    await until(() => gapsOf('room').some((gap) => gap.to_ms - gap.from_ms > 1500), 'the microphone to be lost');
    await pulse.addSink('usb');
    await gapOver('room');
    await kit.recorder.stop();
    const session = await sessionFile(started.id);
    expect(session.coverage[0]).toMatchObject({ track: 'room', reason: 'device_lost' });
    expect(session.tracks.room?.device).toBe('usb.monitor');
  });

  it('pauses and mutes with silence, and says so in the ledger', async () => {
    const started = await kit.recorder.start(startRequest());
    await recorded(1000);
    await kit.recorder.mute('call', true);
    await recorded(2000);
    expect(kit.recorder.live()?.muted).toEqual(['call']);
    await kit.recorder.mute('call', false);
    await recorded(2600);
    await kit.recorder.pause();
    expect(kit.recorder.live()?.paused).toBe(true);
    expect((await run('ps', ['-o', 'comm=', '--ppid', String(process.pid)])).stdout).not.toMatch(/sox|parec/);
    await recorded(4000);
    await kit.recorder.resume();
    await recorded(7000);
    const stopped = await kit.recorder.stop();
    expect(stopped.duration_s).toBeGreaterThan(6.5);
    const session = await sessionFile(started.id);
    expect(session.warnings).toEqual([]);
    const reasons = session.coverage.map((gap) => `${gap.track} ${gap.reason}`).sort();
    expect(reasons).toEqual(['call muted', 'call paused', 'room paused']);
    for (const gap of session.coverage) {
      expect(rms(await heard(started.id, gap.track, gap.from_ms, gap.to_ms))).toBe(0);
      expect(rms(await heard(started.id, gap.track, gap.to_ms, gap.to_ms + 200))).toBeGreaterThan(5000);
    }
  });

  it('records the call alone, with a warning, while there is no microphone, and lets it join when there is one', async () => {
    await pulse.pactl('set-default-source', 'speakers.monitor');
    await pulse.removeSink('mic');
    kit = await reopen(kit, { 'audio.recorder': 'auto' });
    const started = await kit.recorder.start(startRequest({ mic: true, seconds: 2 }));
    // The only input left is the recorded output itself.
    expect(started.warnings).toMatchObject([{ code: 'same_source', track: 'room' }]);
    await until(() => kit.recorder.live() === null, 'the end after 2 s');
    expect((await sessionFile(started.id)).duration_s).toBeGreaterThan(1.8);
  });

  it('fails with the reason when a named device gives nothing, and leaves no session', async () => {
    await expect(kit.recorder.start(startRequest({ device: 'no-such-device' }))).rejects.toMatchObject({
      code: 'no_source',
      message: expect.stringContaining('no-such-device'),
      hint: expect.stringContaining('ambientctl devices'),
    });
    expect(await kit.store.ids()).toEqual([]);
    expect(kit.recorder.live()).toBeNull();
  });

  it('lists microphones, outputs and recorders', async () => {
    const { devices, recorders } = await kit.recorder.devices();
    expect(devices).toContainEqual({ id: 'speakers', name: expect.any(String), kind: 'system', default: true });
    expect(devices).toContainEqual({ id: 'mic.monitor', name: expect.any(String), kind: 'mic', default: true });
    expect(recorders.map(({ name }) => name)).toEqual(['sox', 'arecord', 'parec']);
  });
});

async function reopen(kit: CaptureKit, settings: Parameters<typeof openCaptureKit>[0]): Promise<CaptureKit> {
  await kit.stop();
  return openCaptureKit(settings);
}
