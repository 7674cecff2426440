import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './lines.js';

function read(limit: number, chunks: readonly Buffer[]): string[] {
  const splitter = new LineSplitter(limit);
  const events = chunks.flatMap((chunk) => splitter.push(chunk));
  const last = splitter.flush();
  return (last ? [...events, last] : events).map((event) => (event.kind === 'line' ? event.bytes.toString('utf8') : '<oversized>'));
}

test('lines come out whole however the bytes were cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.nat(40)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll('\n', ' '));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const chunks: Buffer[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(bytes.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(bytes.subarray(from));
      expect(read(1000, chunks)).toEqual(lines);
    }),
  );
});

test('a line over the limit is reported once and what follows is read', () => {
  const long = Buffer.alloc(5000, 'x');
  expect(read(100, [Buffer.from('a\n'), long, long, Buffer.from('\nb\n')])).toEqual(['a', '<oversized>', 'b']);
});

test('a line of exactly the limit is a line', () => {
  expect(read(3, [Buffer.from('abc\nabcd\n')])).toEqual(['abc', '<oversized>']);
});

test('an unterminated last line counts', () => {
  expect(read(100, [Buffer.from('a\nb')])).toEqual(['a', 'b']);
  expect(read(2, [Buffer.from('a\nbbbb')])).toEqual(['a', '<oversized>']);
});
