import type { Track } from '@ambient/contract';
import { expect, test } from 'vitest';
import { suppressBleed } from './bleed.js';

const at = (track: Track, start: number, end: number, text: string) => ({ track, start_ms: start * 1000, end_ms: end * 1000, text });
const bleed = (...lines: ReturnType<typeof at>[]) => suppressBleed(lines);

test('a room line that repeats the call a moment later is bleed', () => {
  expect(
    bleed(
      at('call', 10, 14, 'Did the backfill finish before the weekend?'),
      at('room', 10.3, 14.2, 'Did the backfill finish before the weekend?'),
    ),
  ).toEqual([false, true]);
});

test('misheard bleed is bleed, in whatever order the lines were published', () => {
  expect(
    bleed(
      at('room', 10.3, 14.2, 'Did the back fill finished before the weekend?'),
      at('call', 10, 14, 'Did the backfill finish before the weekend?'),
    ),
  ).toEqual([true, false]);
});

test('bleed that spans two call lines, or only a part of one, is bleed', () => {
  expect(
    bleed(
      at('call', 10, 13, 'I pushed the schema change on Friday.'),
      at('call', 13.4, 16, 'The tests are still red.'),
      at('room', 10.2, 16.2, 'I pushed the schema change on Friday. The tests are still red.'),
    ),
  ).toEqual([false, false, true]);
  expect(
    bleed(
      at('call', 0, 12, 'Let us go through the list first and then decide who takes the migration and who writes to the customers'),
      at('room', 7, 12.2, 'who takes the migration and who writes to the customers'),
    ),
  ).toEqual([false, true]);
});

test('bleed in a script without spaces is bleed', () => {
  expect(bleed(at('call', 5, 8, '来週の会議は金曜日です'), at('room', 5.4, 8.3, '来週の会議は金曜です'))).toEqual([false, true]);
});

test('genuine cross-talk stays: other words at the same time', () => {
  expect(
    bleed(
      at('call', 10, 14, 'We should move the launch to the second week of May.'),
      at('room', 11, 13, 'No, we should not, the partners know the date already.'),
    ),
  ).toEqual([false, false]);
});

test('genuine cross-talk stays: common words that both use, not next to each other', () => {
  expect(
    bleed(
      at('call', 0, 8, 'I think that you know what it is and I do not want to say it again to the whole team in the room'),
      at('room', 2, 4, 'you and I say the same in it'),
    ),
  ).toEqual([false, false]);
});

test('genuine answers stay: repeating what was said, after it was said', () => {
  expect(bleed(at('call', 10, 12, 'So we meet on Friday at nine.'), at('room', 14, 16, 'So we meet on Friday at nine.'))).toEqual([
    false,
    false,
  ]);
});

test('genuine answers stay: repeating it at once, right when it has been said', () => {
  expect(bleed(at('call', 10, 12, 'So we meet on Friday at nine.'), at('room', 12.1, 14.1, 'So we meet on Friday at nine.'))).toEqual([
    false,
    false,
  ]);
});

test('a short word stays while the call says it within a longer line', () => {
  expect(bleed(at('call', 10, 13, 'Okay so we do that.'), at('room', 10.2, 10.5, 'Okay.'))).toEqual([false, false]);
});

test('a short answer at about the same time stays, the same short word at the same moment does not', () => {
  expect(bleed(at('call', 10, 13, 'Yes, that works for me.'), at('room', 12, 12.4, 'Yes.'))).toEqual([false, false]);
  expect(bleed(at('call', 10, 10.5, 'Yes.'), at('room', 11.2, 11.6, 'Yes.'))).toEqual([false, false]);
  expect(bleed(at('call', 10, 10.5, 'Yes.'), at('room', 10.2, 10.6, 'Yes'))).toEqual([false, true]);
});

test('a room line with more of its own than of the call stays whole', () => {
  expect(
    bleed(
      at('call', 10, 12, 'Shall we start?'),
      at('room', 10.2, 17, 'Shall we start? Yes, let me share my screen first, I wanted to show you the new dashboard.'),
    ),
  ).toEqual([false, false]);
});

test('a call line is never bleed, nor is anything without a call', () => {
  expect(bleed(at('room', 0, 3, 'Good morning everyone here.'), at('room', 0, 3, 'Good morning everyone here.'))).toEqual([false, false]);
});
