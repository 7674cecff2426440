import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine } from './engine.js';
import { resolveModel } from './models.js';
import type { ModelFiles } from './protocol.js';
import { joined, OPTIONS, pcm, samples, script, silence, spoken, track, turnsOf } from './test-kit.js';
import { type DetectedTurn, TurnDetector } from './turn-detector.js';
import { FRAME, type VoiceDetector } from './voice-detector.js';

let cache: string;
let model: ModelFiles;

beforeAll(async () => {
  cache = await mkdtemp(path.join(os.tmpdir(), 'turn-'));
  model = await resolveModel('moonshine-base', cache);
});
afterAll(() => rm(cache, { recursive: true, force: true }));

/** Turns in a form that is quick to compare, their audio included. */
const digests = (turns: readonly DetectedTurn[]): string[] =>
  turns.map(({ from, to, voiced, samples: audio }) => `${from}-${to} ${voiced} ${createHash('sha1').update(pcm(audio)).digest('hex')}`);

/** Both voices in one stream. */
function conversation(): Buffer {
  const room = track('room');
  const call = track('call');
  return pcm(room.map((sample, i) => sample + (call[i] ?? 0)));
}

/** Everything that is said, without a pause between, `seconds` of it. */
function unbroken(seconds: number): { audio: Float32Array; text: string } {
  const parts: Float32Array[] = [];
  const texts: string[] = [];
  for (let i = 0, length = 0; length < seconds; i = (i + 1) % script().length) {
    const part = spoken(i);
    parts.push(part);
    texts.push(script()[i]?.text ?? '');
    length += part.length / samples(1);
  }
  return { audio: joined(silence(0.5), ...parts, silence(1)), text: texts.join(' ') };
}

describe('turns of a track', () => {
  it('are the turns of the conversation', () => {
    const expected = script();
    const found = turnsOf(model.vad, conversation());
    expect(found).toHaveLength(expected.length);
    for (const [i, turn] of found.entries()) {
      expect(Math.abs(turn.from - samples((expected[i]?.start_ms ?? 0) / 1000))).toBeLessThan(samples(0.3));
      expect(Math.abs(turn.to - samples((expected[i]?.end_ms ?? 0) / 1000))).toBeLessThan(samples(0.3));
      expect(turn.voiced).toBeGreaterThan((turn.to - turn.from) / 2);
      expect(turn.voiced).toBeLessThanOrEqual(turn.to - turn.from);
    }
  });

  it('do not depend on the sizes of the pieces in which the audio arrives', () => {
    const audio = conversation();
    const whole = turnsOf(model.vad, audio);
    for (const chunk of [1, 511, 4000]) {
      const part = chunk === 1 ? audio.subarray(0, samples(5) * 2) : audio;
      expect(digests(turnsOf(model.vad, part, { chunk }))).toEqual(digests(chunk === 1 ? turnsOf(model.vad, part) : whole));
    }
  });

  it('are found again, exactly the rest of them, by a stream that is resumed at the end of any one', () => {
    for (const options of [OPTIONS, { ...OPTIONS, maxTurnSeconds: 5 }]) {
      const audio = options.maxTurnSeconds === 5 ? pcm(unbroken(20).audio) : conversation();
      const all = turnsOf(model.vad, audio, { options });
      expect(all.length).toBeGreaterThan(3);
      for (const [i, { to }] of all.entries())
        expect(digests(turnsOf(model.vad, audio, { from: to, options }))).toEqual(digests(all.slice(i + 1)));
    }
  });

  it('never overlap, and the audio of two that touch is not heard twice', () => {
    const all = turnsOf(model.vad, pcm(unbroken(20).audio), { options: { ...OPTIONS, maxTurnSeconds: 5 } });
    for (const [i, turn] of all.entries()) {
      const before = all[i - 1];
      if (before === undefined) continue;
      expect(turn.from).toBeGreaterThanOrEqual(before.to);
      // Context between two turns may be shared; it holds no voice.
      if (turn.from === before.to) expect(turn.samples.length).toBeLessThanOrEqual(turn.to - turn.from + samples(0.2));
    }
  });

  it.each([
    ['nothing', 0],
    ['5 ms of speech', 0.005],
    ['one frame', 0.032],
    ['0.1 s of speech', 0.1],
  ])('are none in %s', (_, seconds) => {
    expect(turnsOf(model.vad, pcm(spoken(0).slice(0, samples(seconds))))).toEqual([]);
  });

  it('are none in silence, an offset or full scale', () => {
    for (const level of [0, 0.5, 1, -1]) expect(turnsOf(model.vad, pcm(silence(5).fill(level)))).toEqual([]);
  });

  it('are found in speech that is clipped hard', () => {
    expect(turnsOf(model.vad, pcm(track('room').map((sample) => sample * 50))).length).toBeGreaterThanOrEqual(3);
  });
});

describe('the voice detector', () => {
  /** Hears a voice where it is told to, and remembers when it was started afresh, in frames. */
  function scripted(voiced: (frame: number) => boolean): { detector: VoiceDetector; resets: number[] } {
    let frame = 0;
    const resets: number[] = [];
    return {
      resets,
      detector: { push: () => voiced(frame++ - 1), reset: () => resets.push(frame) },
    };
  }
  const perSecond = samples(1) / FRAME;

  it('starts afresh every 3 s in which it hears nobody: noise and music would leave it deaf', () => {
    const { detector, resets } = scripted(() => false);
    const turns = new TurnDetector(detector, OPTIONS, 0, new Uint8Array(0));
    turns.append(pcm(silence(31)));
    expect(turns.next()).toBeUndefined();
    expect(resets[0]).toBe(0);
    const pauses = resets.slice(1).map((at, i) => (at - (resets[i] ?? 0)) / perSecond);
    expect(pauses.length).toBeGreaterThanOrEqual(9);
    for (const pause of pauses) expect(Math.abs(pause - 3)).toBeLessThan(0.2);
  });

  it('keeps what it knows while somebody speaks', () => {
    const { detector, resets } = scripted(() => true);
    const turns = new TurnDetector(detector, OPTIONS, 0, new Uint8Array(0));
    turns.append(pcm(silence(18)));
    expect(turns.next()).toBeUndefined();
    expect(resets).toEqual([0]);
  });
});

describe('35 s of unbroken speech', () => {
  it('is cut where it is quiet: every word once, none twice at the seam', async () => {
    const { audio, text } = unbroken(35);
    const engine = await Engine.load(model);
    const turns = turnsOf(model.vad, pcm(audio));
    expect(turns.length).toBeGreaterThanOrEqual(2);
    for (const turn of turns) expect(turn.to - turn.from).toBeLessThanOrEqual(samples(OPTIONS.maxTurnSeconds));
    const said: string[] = [];
    for (const turn of turns) said.push((await engine.read(turn.samples, turn.voiced / samples(1))).text);
    const plain = (of: string): string =>
      of
        .toLowerCase()
        .replace(/[^a-z0-9 ]/g, '')
        .replaceAll('2', 'two')
        .replaceAll('4', 'four');
    expect(plain(said.join(' '))).toBe(plain(text));
  }, 120_000);
});
