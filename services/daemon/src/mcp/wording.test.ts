import { AmbientError } from '@ambient/contract';
import { expect, test } from 'vitest';
import { wording } from './wording.js';

test('message and hint are two sentences, a message alone stays as it is', () => {
  expect(wording(new AmbientError('unavailable', 'session.json is missing', 'Restore it.'))).toBe('session.json is missing. Restore it.');
  expect(wording(new AmbientError('conflict', 'Nothing was done.', 'Try again.'))).toBe('Nothing was done. Try again.');
  expect(wording(new AmbientError('not_found', 'no session X'))).toBe('no session X');
});

test('an agent is not sent to options of a command line', () => {
  expect(wording(new AmbientError('unavailable', 'There is no microphone.', 'Start with `--no-mic`.'))).toBe('There is no microphone.');
});
