import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RATE } from './audio.js';
import type { Decode } from './decoder.js';
import { Engine } from './engine.js';
import { resolveModel } from './models.js';
import { joined, samples, script, silence, spoken } from './test-kit.js';

/** A decoder that answers by the length of what it is given, and remembers those lengths in seconds. */
function scripted(answer: (seconds: number) => string | { text: string; tokens: number }): { decode: Decode; asked: number[] } {
  const asked: number[] = [];
  const decode: Decode = async (audio) => {
    const seconds = audio.length / RATE;
    asked.push(seconds);
    const said = answer(seconds);
    return typeof said === 'string' ? { text: said, tokens: Math.ceil(said.split(' ').length * 1.4) } : said;
  };
  return { decode, asked };
}

const read = async (decode: Decode, seconds: number, voiced?: number): Promise<string> =>
  (await new Engine(decode, 'en').read(silence(seconds), voiced)).text;

describe('a repeat', () => {
  const STEVE = 'Good morning, Steve. Good morning, Steve.';

  it('that no voice could say in the time is said once, without another look', async () => {
    const { decode, asked } = scripted(() => STEVE);
    expect(await read(decode, 1.6, 1.2)).toBe('Good morning, Steve.');
    expect(asked).toEqual([1.6]);
  });

  it('that is gone when the halves are read alone is said once', async () => {
    const { decode } = scripted((seconds) => (seconds > 2.5 ? STEVE : seconds > 1.4 ? 'Steve.' : 'Good morning'));
    expect(await read(decode, 2.8, 2.2)).toBe('Good morning, Steve.');
  });

  it('that is in the halves too stays', async () => {
    const { decode } = scripted((seconds) => (seconds > 2 ? STEVE : 'Good morning, Steve.'));
    expect(await read(decode, 3, 2.2)).toBe(STEVE);
  });

  it('of one word stays when there is time for it, without another look', async () => {
    const { decode, asked } = scripted(() => 'No, no, no.');
    expect(await read(decode, 1.6, 0.8)).toBe('No, no, no.');
    expect(asked).toHaveLength(1);
  });

  it('stays when the halves say nothing', async () => {
    const { decode } = scripted((seconds) => (seconds > 2 ? STEVE : ''));
    expect(await read(decode, 3, 2.2)).toBe(STEVE);
  });
});

describe('what the decoder gets wrong', () => {
  it('a runaway is read in halves', async () => {
    const { decode, asked } = scripted((seconds) => (seconds > 9 ? { text: 'la la la', tokens: 150 } : 'one half'));
    expect(await read(decode, 10)).toBe('one half one half');
    expect(asked[0]).toBe(10);
    expect((asked[1] ?? 0) + (asked[2] ?? 0)).toBe(10);
  });

  it('a runaway too short to be halved is nothing', async () => {
    const { decode } = scripted(() => ({ text: 'la la la', tokens: 90 }));
    expect(await read(decode, 1.5)).toBe('');
  });

  it('nothing at all is asked for again after some silence', async () => {
    const { decode, asked } = scripted((seconds) => (seconds > 1.3 ? 'In short.' : ''));
    expect(await read(decode, 1.2)).toBe('In short.');
    expect(asked).toEqual([1.2, 1.6]);
  });

  it.each(['Hmm.', 'Mm-hmm.', 'Uh', 'Um, um.', 'Huh?', 'A.', 'You'])('"%s" stays when it is heard again', async (hum) => {
    const { decode, asked } = scripted(() => hum);
    expect(await read(decode, 1)).toBe(hum);
    expect(asked).toEqual([1, 1.1, 1.3]);
  });

  it.each([1.1, 1.3])('a hum is nothing when it is not heard again in %f s', async (length) => {
    const { decode } = scripted((seconds) => (seconds === length ? '' : 'Hmm.'));
    expect(await new Engine(decode, 'en').read(silence(1))).toEqual({ text: '', confidence: null, language: null });
  });

  it.each(['Yes.', 'No.', 'Him.', 'Hm, no.', 'Uhura', 'I am.', 'Your', 'Thank you.'])('"%s" is a word and stands', async (text) => {
    const { decode, asked } = scripted((seconds) => (seconds > 1 ? '' : text));
    expect(await read(decode, 1)).toBe(text);
    expect(asked).toEqual([1]);
  });
});

describe('a timestamp as subtitles have it', () => {
  const STAMPED = 'The meeting starts at 00:00:00.000,0:00:00.000';

  it('is asked for again, and another reading stands', async () => {
    const { decode, asked } = scripted((seconds) => (seconds > 2.05 ? 'The meeting starts at 9:00.' : STAMPED));
    expect(await read(decode, 2)).toBe('The meeting starts at 9:00.');
    expect(asked).toEqual([2, 2.1]);
  });

  it('stays when every reading has it: words are never thrown away for it', async () => {
    const { decode, asked } = scripted(() => STAMPED);
    expect(await read(decode, 2)).toBe(STAMPED);
    expect(asked).toEqual([2, 2.1, 2.3]);
  });

  it.each(['We begin at 10:15.', 'At 9:30, room 12.', 'It takes 3.125 seconds.'])('"%s" is none', async (text) => {
    const { decode, asked } = scripted(() => text);
    expect(await read(decode, 2)).toBe(text);
    expect(asked).toHaveLength(1);
  });
});

describe('Moonshine base', () => {
  let cache: string;
  let engine: Engine;
  const question = script().findIndex((turn) => turn.text === 'How much is left to copy?');
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z ]/g, '');

  beforeAll(async () => {
    cache = await mkdtemp(path.join(os.tmpdir(), 'eng-'));
    engine = await Engine.load(await resolveModel('moonshine-base', cache));
  });
  afterAll(() => rm(cache, { recursive: true, force: true }));

  it('keeps what is really said two and three times', async () => {
    const phrase = spoken(question);
    const gap = silence(0.25);
    for (const times of [2, 3]) {
      const audio = joined(gap, ...Array.from({ length: times }, () => [phrase, gap]).flat());
      const { text } = await engine.read(audio, (times * phrase.length) / RATE);
      expect(plain(text)).toBe(Array.from({ length: times }, () => 'how much is left to copy').join(' '));
    }
  });

  it('reads speech with samples that are no numbers, or beyond all bounds', async () => {
    const broken = joined(silence(0.2), spoken(question), silence(0.2));
    for (let i = 100; i < broken.length; i += 4000) broken[i] = [Number.NaN, Number.POSITIVE_INFINITY, -7][i % 3] ?? 0;
    expect(plain((await engine.read(broken)).text)).toContain('how much is left');
    expect((await engine.read(new Float32Array(RATE).fill(Number.NaN))).text).toBe('');
  });

  it('reads speech that is clipped hard', async () => {
    const clipped = joined(silence(0.2), spoken(question), silence(0.2)).map((sample) => Math.max(-0.5, Math.min(0.5, sample * 8)));
    expect(plain((await engine.read(clipped)).text)).toContain('left to');
  });

  it.each([0, 0.000_1, 0.005, 0.05, 0.1])('takes %f s of audio', async (seconds) => {
    expect((await engine.read(spoken(question).slice(0, samples(seconds)))).text.length).toBeLessThan(30);
  });
});
