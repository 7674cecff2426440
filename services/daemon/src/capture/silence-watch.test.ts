import type { Track, Warning } from '@ambient/contract';
import { describe, expect, it } from 'vitest';
import { type Heard, SilenceWatch } from './silence-watch.js';

/** A track that shows a test's peaks. */
class StandIn implements Heard {
  readonly info = { source: 'mic' as const };
  readonly device = 'mic';
  delivering = true;
  peak = -120;
  readonly track: Track;

  constructor(track: Track) {
    this.track = track;
  }

  takePeak(): number {
    return this.peak;
  }
}

function watch(platform: NodeJS.Platform) {
  const room = new StandIn('room');
  const call = new StandIn('call');
  const warnings: Omit<Warning, 'at'>[] = [];
  const speaking = new Set<Track>();
  const silence = new SilenceWatch(
    [room, call],
    (track) => speaking.has(track),
    (warning) => warnings.push(warning),
    platform,
  );
  const pass = async (seconds: number, from = 0): Promise<number> => {
    for (let at = from; at <= from + seconds; at += 2) await silence.look(at * 1000);
    return from + seconds;
  };
  return { room, call, warnings, speaking, pass };
}

describe('SilenceWatch', () => {
  it('warns within 30 s of a microphone that hears nothing while the call speaks, once', async () => {
    const { call, warnings, speaking, pass } = watch('linux');
    call.peak = -20;
    speaking.add('call');
    await pass(30);
    expect(warnings).toMatchObject([{ code: 'silent_track', track: 'room', hint: expect.stringContaining('muted') }]);
    await pass(120, 32);
    expect(warnings).toHaveLength(1);
  });

  it('says nothing of a silent microphone while there is nothing to hear, nor of a quiet one', async () => {
    const { room, call, warnings, speaking, pass } = watch('linux');
    call.peak = -20;
    const at = await pass(60);
    expect(warnings).toEqual([]);
    room.peak = -65;
    speaking.add('call');
    await pass(60, at + 2);
    expect(warnings).toEqual([]);
  });

  it('warns again when a track fell silent anew', async () => {
    const { room, call, warnings, speaking, pass } = watch('linux');
    call.peak = -20;
    speaking.add('call');
    let at = await pass(30);
    room.peak = -30;
    at = await pass(10, at + 2);
    room.peak = -120;
    await pass(40, at + 2);
    expect(warnings).toHaveLength(2);
  });

  it('takes zeros of a Mac microphone for a missing permission, whoever speaks', async () => {
    const { call, warnings, pass } = watch('darwin');
    call.peak = -20;
    await pass(30);
    expect(warnings).toMatchObject([{ track: 'room', hint: expect.stringContaining('Privacy & Security → Microphone') }]);
  });

  it('is silent about a muted or paused track', async () => {
    const { room, call, warnings, speaking, pass } = watch('darwin');
    call.peak = -20;
    speaking.add('call');
    room.delivering = false;
    await pass(60);
    expect(warnings).toEqual([]);
  });
});
