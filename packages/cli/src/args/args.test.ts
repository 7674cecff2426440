import { describe, expect, it } from 'vitest';
import { durationArgument, parseDuration, positionArgument } from './duration.js';
import { momentArgument } from './moment.js';
import { suggest } from './suggest.js';
import { lineNumbers, wholeNumber } from './values.js';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['12:30', 750_000],
    ['90:00', 5_400_000],
    ['1:02:03', 3_723_000],
    ['0:01.5', 1500],
    ['45', 45_000],
    ['0.5', 500],
    ['2d', 172_800_000],
    ['250ms', 250],
  ])('%s is %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', ' ', 'soon', '5x', '-5m', '1:60', '1:2', '1:60:00', '5m!', '1e9', 'NaN', '9'.repeat(40), '1:2:3:4'])('%j is none', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );

  it('takes zero as a position and not as a length', () => {
    expect(positionArgument('0:00')).toBe(0);
    expect(() => durationArgument('0')).toThrow(/Expected a time/);
  });
});

describe('momentArgument', () => {
  const now = new Date('2026-11-30T16:00:00Z');
  it.each([
    ['2026-11-30T16:00Z', '2026-11-30T16:00:00.000Z'],
    ['2026-11-30T16:00:00+01:00', '2026-11-30T15:00:00.000Z'],
    ['7d', '2026-11-23T16:00:00.000Z'],
    ['12h', '2026-11-30T04:00:00.000Z'],
  ])('%s is %s', (text, iso) => expect(momentArgument(text, 'start', now)).toBe(iso));

  it.each(['2026-02-30', '2026-13-01', '2026', '7', 'tomorrowish', '2026-11-30T25:00', ''])('%j is none', (text) =>
    expect(() => momentArgument(text, 'start', now)).toThrow(/Expected a date/),
  );

  it('takes yesterday across the end of a month', () => {
    const now = new Date(2026, 11, 1, 0, 30);
    expect(momentArgument('yesterday', 'start', now)).toBe(new Date(2026, 10, 30).toISOString());
    expect(momentArgument('yesterday', 'end', now)).toBe(new Date(2026, 10, 30, 23, 59, 59, 999).toISOString());
  });
});

describe('lineNumbers', () => {
  it('takes lists and ranges, sorted and once each', () => expect(lineNumbers('5-7, 1,6')).toEqual([1, 5, 6, 7]));
  it.each(['', '0', '3-1', 'a', '1,,2', '1-99999'])('refuses %j', (text) => expect(() => lineNumbers(text)).toThrow());
});

describe('wholeNumber', () => {
  it.each(['0', '11', '1.5', 'x', '', '1e1'])('refuses %j', (text) => expect(() => wholeNumber(1, 10)(text)).toThrow());
});

describe('suggest', () => {
  const keys = ['audio.device', 'audio_retention_days', 'log.level'];
  it('finds a mistyped key, and one of which a part was given', () => {
    expect(suggest('audio.devise', keys)).toBe('audio.device');
    expect(suggest('device', keys)).toBe('audio.device');
    expect(suggest('retention', keys)).toBeUndefined();
    expect(suggest('qqqq', keys)).toBeUndefined();
  });
});
