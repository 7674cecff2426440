import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../audio/kit.js';
import { type PrivatePulse, startPulse } from '../audio/pulse.js';
import { tone } from '../audio/speech.js';
import { runHere } from '../cli/support/ambientctl.js';
import { requireTools } from '../support/require-tool.js';
import { type DoctorKit, openDoctorKit, said } from './kit.js';

describe.skipIf(!requireTools(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox', 'arecord', 'ffmpeg', 'ffprobe']))('doctor', () => {
  let pulse: PrivatePulse;
  let kit: DoctorKit;
  let sound: string;
  const playing = new Map<string, { stop(): void }>();

  /** Sound on exactly these sinks. */
  async function soundOn(...sinks: string[]): Promise<void> {
    for (const [sink, player] of playing) {
      if (sinks.includes(sink)) continue;
      player.stop();
      playing.delete(sink);
    }
    for (const sink of sinks) if (!playing.has(sink)) playing.set(sink, pulse.playing(sound, sink));
    const inputs = async (): Promise<number> => (await pulse.pactl('list', 'short', 'sink-inputs')).split('\n').filter(Boolean).length;
    await until(async () => (await inputs()) === sinks.length, 'the players');
  }

  beforeAll(async () => {
    pulse = await startPulse();
    kit = await openDoctorKit(pulse.env);
    // The kit's own HOME counts, in which the hosts' files lie.
    sound = path.join(kit.user, 'tone.wav');
    await tone(sound, 440, 180);
    await soundOn('mic', 'speakers');
    await kit.run('daemon', 'start');
  });
  afterAll(async () => {
    await kit.remove();
    await pulse.stop();
  });

  it('finds a healthy home all well, with both tracks heard', async () => {
    const report = await kit.doctor();
    expect(report.faults).toEqual([]);
    expect(report.code).toBe(0);
    expect(report.checks.map(({ id }) => id)).toEqual(
      expect.arrayContaining(
        'node home home.contents socket.folder socket.control service daemon tool.ffmpeg tool.recorder tool.system recorder.room recorder.call model recognizer config disk clock library sessions sessions.unfinished retention mcp'.split(
          ' ',
        ),
      ),
    );
    expect(report.get('recorder.room').detail).toMatch(/records mic\.monitor: peak -\d+ dBFS/);
    expect(report.get('recorder.call').detail).toMatch(/parec records speakers\.monitor: peak -\d+ dBFS/);
    expect(await pulse.pactl('list', 'short', 'source-outputs')).toBe('');
  });

  it('says so in words, and takes silence for silence when nothing plays', async () => {
    await soundOn();
    const { code, stdout } = await runHere(kit.paths.home, ['doctor'], { env: kit.env });
    expect(stdout).toMatch(/\n\nAll is well\.\n$/);
    expect(stdout).toMatch(/System audio +parec records speakers\.monitor: silent, as nothing plays\./);
    expect(code).toBe(0);
  });

  it('names a muted microphone, and a program that plays on another output than the one that is recorded', async () => {
    await pulse.pactl('set-source-mute', 'mic.monitor', '1');
    await pulse.addSink('headset');
    await soundOn('mic', 'headset');
    const report = await kit.doctor();
    await pulse.pactl('set-source-mute', 'mic.monitor', '0');
    await pulse.removeSink('headset');
    expect(report.faults).toEqual(['recorder.room', 'recorder.call']);
    expect(said(report.get('recorder.room'))).toMatch(/it is muted.*pactl set-source-mute mic\.monitor 0/);
    expect(said(report.get('recorder.call'))).toMatch(/paplay plays on headset.*audio\.system_device headset/);
    expect(report.code).toBe(1);
  });

  it('names a default microphone that is only what the computer plays', async () => {
    await soundOn('mic', 'speakers');
    await pulse.pactl('set-default-source', 'speakers.monitor');
    const report = await kit.doctor();
    await pulse.pactl('set-default-source', 'mic.monitor');
    expect(report.faults).toEqual(['recorder.room']);
    expect(said(report.get('recorder.room'))).toMatch(/both tracks hold the same sound.*set-default-source/);
  });

  it('names devices that the settings want and that are gone', async () => {
    await kit.run('config', 'audio.device', 'gone-mic');
    await kit.run('config', 'audio.system_device', 'gone-sink');
    const report = await kit.doctor();
    await kit.run('config', 'audio.device', '--unset');
    await kit.run('config', 'audio.system_device', '--unset');
    expect(report.faults).toEqual(['recorder.room', 'recorder.call']);
    expect(said(report.get('recorder.room'))).toMatch(/gone-mic.*ambientctl devices/);
    expect(said(report.get('recorder.call'))).toMatch(/gone-sink is not an output.*mic, speakers/);
  });

  describe('while something is recorded', () => {
    it('reports what the recording hears, and opens no device of its own', async () => {
      await kit.run('start', '--name', 'live');
      await until(async () => (await pulse.pactl('list', 'short', 'source-outputs')).split('\n').length === 2, 'two recorders');
      let most = 0;
      let watching = true;
      const watch = (async () => {
        while (watching) {
          most = Math.max(most, (await pulse.pactl('list', 'short', 'source-outputs')).split('\n').length);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      const report = await kit.doctor();
      watching = false;
      await watch;
      expect(most).toBe(2);
      expect(report.faults).toEqual([]);
      for (const track of ['room', 'call']) expect(report.get(`recorder.${track}`).detail).toMatch(/into \d{4}-.*: peak -\d+ dBFS/);
      await kit.run('stop');
    });

    it('names a track whose device went away, and since when', async () => {
      await pulse.addSink('usb');
      await kit.run('config', 'audio.system_device', 'usb');
      await kit.run('start');
      await pulse.removeSink('usb');
      let report = await kit.doctor();
      await until(async () => {
        report = await kit.doctor();
        return report.code === 1;
      }, 'the loss to be noticed');
      await kit.run('stop');
      await kit.run('config', 'audio.system_device', '--unset');
      expect(report.faults).toEqual(['recorder.call']);
      expect(said(report.get('recorder.call'))).toMatch(/Not heard since 00:00:\d\d.*joins by itself/);
    });
  });

  it('names a computer without any device: the sound server has only its dummy one', async () => {
    await soundOn();
    await pulse.pactl('load-module', 'module-null-sink', 'sink_name=auto_null');
    await pulse.pactl('set-default-sink', 'auto_null');
    await pulse.pactl('set-default-source', 'auto_null.monitor');
    const report = await kit.doctor();
    expect(report.faults).toEqual(['recorder.room', 'recorder.call']);
    expect(said(report.get('recorder.room'))).toMatch(/no microphone, only the dummy device.*Connect a microphone/);
    expect(said(report.get('recorder.call'))).toMatch(/no sound output, only the dummy device.*set-default-sink/);
  });

  it('names a computer without a sound server, and one without the programs to record with', async () => {
    await pulse.stop();
    const silent = await kit.doctor();
    expect(silent.faults).toEqual(['recorder.room', 'recorder.call']);
    expect(said(silent.get('recorder.room'))).toMatch(/This computer has no microphone.*Connect a microphone/);
    expect(said(silent.get('recorder.call'))).toMatch(/No sound server answers.*pipewire-pulse/);

    await kit.run('daemon', 'stop');
    const bare = { ...kit.env, PATH: path.join(kit.user, 'bin') };
    await mkdir(bare.PATH);
    await symlink('/bin/true', path.join(bare.PATH, 'pactl'));
    expect((await runHere(kit.paths.home, ['daemon', 'start'], { env: bare })).code).toBe(0);
    const same = await kit.doctor(bare);
    expect(same.faults).toEqual(['tool.ffmpeg', 'tool.recorder', 'tool.system', 'recorder.room', 'recorder.call']);
    expect(said(same.get('tool.ffmpeg'))).toMatch(/ffmpeg and ffprobe not found.*only WAV files.*Install ffmpeg/);
    expect(said(same.get('tool.recorder'))).toMatch(/None of sox, arecord, parec is found.*Install sox/);
    expect(said(same.get('tool.system'))).toMatch(/parec not found.*pulseaudio-utils/);
    expect(same.code).toBe(1);

    const elsewhere = await kit.doctor();
    expect(elsewhere.faults).toEqual(same.faults);
    expect(elsewhere.get('tool.recorder').fix).toMatch(/This terminal finds it.*daemon restart/);
  });
});
