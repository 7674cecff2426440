import { decode } from '@toon-format/toon';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromSequence, toSequence } from './live-log.js';
import { ROW_SCHEMA, type Row, toonDocument, toonRows } from './rows.js';

const position = fc.record({ lines: fc.nat(2 ** 24 - 1), warnings: fc.nat(2 ** 14 - 1), gaps: fc.nat(2 ** 14 - 1) });

test('a cursor is a safe integer that gives its position back and grows with it', () => {
  fc.assert(
    fc.property(position, fc.nat(1000), fc.nat(10), fc.nat(10), (at, lines, warnings, gaps) => {
      const sequence = toSequence(at);
      expect(Number.isSafeInteger(sequence)).toBe(true);
      expect(fromSequence(sequence)).toEqual(at);
      const later = toSequence({ lines: at.lines + lines, warnings: at.warnings + warnings, gaps: at.gaps + gaps });
      if (at.lines + lines < 2 ** 24 && at.warnings + warnings < 2 ** 14 && at.gaps + gaps < 2 ** 14)
        expect(later).toBeGreaterThanOrEqual(sequence);
    }),
  );
  expect(toSequence({ lines: 17, warnings: 0, gaps: 0 })).toBe(17);
});

const row: fc.Arbitrary<Row> = fc.record({
  timestamp: fc.constant('2026-11-30T16:08:03.120+01:00'),
  source: fc.oneof(
    fc.constantFrom('M', 'S', 'E'),
    fc.string({ unit: 'grapheme' }).map((label) => `S:${label}`),
  ),
  status: fc.constantFrom('C', 'U', 'N'),
  segment: fc.option(fc.integer({ min: 1, max: 100_000 })),
  confidence: fc.option(fc.constantFrom(0, 0.5, 0.987, 1)),
  duration: fc.option(fc.constantFrom(0, 1.5, 12.345)),
  language: fc.option(fc.constantFrom('en', 'pt-BR')),
  text: fc.string({ unit: 'grapheme' }),
});

test('whatever is said, the rows are read back as they were, one a line', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      expect(decode(toonDocument(rows))).toEqual({ transcript: rows });
      const lines = toonRows(rows).split('\n');
      expect(lines).toHaveLength(rows.length);
      const columns = ROW_SCHEMA.slice('transcript'.length);
      expect(decode(`transcript[${rows.length}]${columns}:\n${lines.map((line) => `  ${line}`).join('\n')}`)).toEqual({ transcript: rows });
    }),
  );
});
