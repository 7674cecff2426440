import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counts, distance, readTable, score, words } from '../../tools/quality/score.mjs';

const row = (init: Record<string, string>): Record<string, string> => ({
  file: 'a.wav',
  reference: 'one two three',
  ref_kind: 'human',
  lang: 'en',
  categories: '',
  ...init,
});

describe('words of a text', () => {
  it.each([
    ['Hello, World!', 'hello world'],
    ["Don’t, 'quoted' y'know", "don't quoted y'know"],
    ['self-made twenty-one', 'self made twenty one'],
    ['2 of 10, not 11', 'two of ten not 11'],
    ['um [noise] <laugh> yes', 'um yes'],
    ['  ...  ', ''],
    ['Ünïcode café', 'ünïcode café'],
  ])('%s', (text, expected) => {
    expect(words(text).join(' ')).toBe(expected);
  });
});

describe('distance', () => {
  it.each([
    ['a b c', 'a b c', 0],
    ['a b c', 'a x c', 1],
    ['a b c', 'a c', 1],
    ['a b c', 'a b b c', 1],
    ['a b c', '', 3],
    ['', 'a b', 2],
  ])('from "%s" to "%s" is %i', (from, to, expected) => {
    expect(distance(from.split(' ').filter(Boolean), to.split(' ').filter(Boolean))).toBe(expected);
  });

  it('is symmetric, zero for equals only, and never above the longer list', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(list, list, (one, other) => {
        const away = distance(one, other);
        expect(away).toBe(distance(other, one));
        expect(away === 0).toBe(one.join() === other.join());
        expect(away).toBeLessThanOrEqual(Math.max(one.length, other.length));
        expect(away).toBeGreaterThanOrEqual(Math.abs(one.length - other.length));
      }),
    );
  });
});

describe('the table of recordings', () => {
  it('is read with its quotes and line ends', () => {
    expect(readTable('file\treference\r\na.wav\t"say ""hi"""\r\nb.wav\t\r\n')).toEqual([
      { file: 'a.wav', reference: 'say "hi"' },
      { file: 'b.wav', reference: '' },
    ]);
  });

  it.each([
    [{ ref_kind: 'human' }, true],
    [{ ref_kind: 'known', lang: 'en-GB' }, true],
    [{ ref_kind: 'machine' }, false],
    [{ lang: 'de' }, false],
    [{ ref_kind: 'nonspeech', lang: '' }, true],
    [{ categories: 'code-switch,read' }, false],
    [{ categories: 'digits' }, false],
  ])('counts %j: %s', (init, expected) => {
    expect(counts(row(init))).toBe(expected);
  });
});

describe('score', () => {
  it('weighs by words, counts invented words and names what is missing', () => {
    const rows = [
      row({ file: 'a.wav' }),
      row({ file: 'b.wav', reference: 'four' }),
      row({ file: 'n.wav', ref_kind: 'nonspeech', reference: '' }),
      row({ file: 'gone.wav' }),
      row({ file: 'de.wav', lang: 'de' }),
    ];
    const texts = new Map([
      ['a.wav', 'One, two, three.'],
      ['b.wav', 'for'],
      ['n.wav', 'Thank you.'],
      ['de.wav', 'ja'],
    ]);
    const { worst, ...rest } = score(rows, texts);
    expect(rest).toEqual({ wer: 1 / 4, errors: 1, words: 4, invented: 2, missing: ['gone.wav'] });
    expect(worst[0]).toEqual({ file: 'b.wav', wer: 1, text: 'for' });
  });
});
