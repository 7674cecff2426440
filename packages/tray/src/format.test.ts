import { describe, expect, it } from 'vitest';
import { clock, meter, oneLine, when } from './format.js';

const level = (rms_db: number, muted = false) => ({ rms_db, peak_db: rms_db, speech: false, muted });

describe('format', () => {
  it('shows times as a clock does', () => {
    expect([0, 999, 65_000, 3_600_000, -5].map(clock)).toEqual(['0:00', '0:00', '1:05', '1:00:00', '0:00']);
  });

  it('shows levels from silence to clipping', () => {
    expect([-120, -60, -30, 0, 3].map((db) => meter(level(db)))).toEqual([
      '▯▯▯▯▯▯▯▯ silent',
      '▯▯▯▯▯▯▯▯ −60 dB',
      '▮▮▮▮▯▯▯▯ −30 dB',
      '▮▮▮▮▮▮▮▮ 0 dB',
      '▮▮▮▮▮▮▮▮ 3 dB',
    ]);
    expect(meter(level(-10, true))).toBe('muted');
  });

  it('cuts between characters, not inside them', () => {
    expect(oneLine('👩‍👩‍👧‍👦'.repeat(5), 3)).toBe(`${'👩‍👩‍👧‍👦'.repeat(2)}…`);
    expect(oneLine(' a\tb\r\nc ')).toBe('a b c');
  });

  it('shows nothing for a time that is none', () => {
    expect(when('yesterday')).toBe('');
  });
});
