import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRepeat, mostLike, shortened, withinSpeakingRate } from './repeats.js';

const STEVE = 'Good morning, Steve. Good morning, Steve.';

function repeatIn(text: string): NonNullable<ReturnType<typeof findRepeat>> {
  const repeat = findRepeat(text);
  if (repeat === undefined) throw new Error(`no repeat in ${text}`);
  return repeat;
}

describe('finding a phrase said twice in a row', () => {
  it.each([
    [STEVE, { at: 0, words: 3, times: 2 }],
    ['No, no, no.', { at: 0, words: 1, times: 3 }],
    ['no no no no', { at: 0, words: 1, times: 4 }],
    ['Again and again and again.', { at: 0, words: 2, times: 2 }],
    ['So I said what it is what it is and left', { at: 3, words: 3, times: 2 }],
    ['It was very, very good.', { at: 2, words: 1, times: 2 }],
  ])('%s', (text, repeat) => {
    expect(findRepeat(text)).toEqual(repeat);
  });

  it.each(['', 'Hello.', 'Again and again.', 'Good morning, Steve. Good evening, Steve.', 'a b a', '- - -'])('not in "%s"', (text) => {
    expect(findRepeat(text)).toBeUndefined();
  });
});

describe('saying it less often', () => {
  it('keeps the first copy, and the stop of the last', () => {
    expect(shortened(STEVE, repeatIn(STEVE), 1)).toBe('Good morning, Steve.');
    expect(shortened('Well, come on, come on! Now.', repeatIn('Well, come on, come on! Now.'), 1)).toBe('Well, come on! Now.');
    expect(shortened('No, no, no.', repeatIn('No, no, no.'), 2)).toBe('No, no.');
    expect(shortened('hello hello', repeatIn('hello hello'), 1)).toBe('hello');
  });

  it('says as much as a voice can in the time', () => {
    expect(withinSpeakingRate(STEVE, 2.2)).toBe(STEVE);
    expect(withinSpeakingRate(STEVE, 1.2)).toBe('Good morning, Steve.');
    expect(withinSpeakingRate('stop it stop it stop it stop it', 0.7)).toBe('stop it stop it');
    expect(withinSpeakingRate('Hello, hello.', 0)).toBe('Hello.');
  });

  it('leaves fast speech alone in which nothing is repeated', () => {
    expect(withinSpeakingRate('What your country can do for you.', 0.1)).toBe('What your country can do for you.');
  });

  it('ends, only leaves words out, and never the last copy of a phrase', () => {
    const text = fc.array(fc.constantFrom('no', 'yes', 'Good', 'morning,', 'Steve.', '-'), { maxLength: 24 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(text, fc.double({ min: 0, max: 3, noNaN: true }), (said, seconds) => {
        const left = withinSpeakingRate(said, seconds);
        const keys = (of: string): Set<string> => new Set(of.toLowerCase().match(/[a-z]+/g) ?? []);
        expect(keys(left)).toEqual(keys(said));
        expect(left.length).toBeLessThanOrEqual(said.length);
      }),
    );
  });
});

describe('holding it against another reading', () => {
  it.each([
    ['said once', 'Good morning, Steve.', 'Good morning, Steve.'],
    ['said once, in other words', 'Good mourning Steve', 'Good morning, Steve.'],
    ['said twice', 'Good morning Steve. Good morning Steve', STEVE],
    ['said twice, in other words', 'Good mourning, Steve. Good morning, Eve.', STEVE],
    ['nothing of it heard', 'God. Mother, Eve and Lee.', STEVE],
  ])('%s', (_, other, kept) => {
    expect(mostLike(other, STEVE, repeatIn(STEVE))).toBe(kept);
  });

  it('finds two of three', () => {
    const text = 'Stop it, stop it, stop it.';
    expect(mostLike('Stop it. Stop it.', text, repeatIn(text))).toBe('Stop it, stop it.');
  });
});
