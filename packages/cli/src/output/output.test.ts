import { describe, expect, it } from 'vitest';
import { toJson } from './json.js';
import { lineText } from './lines.js';
import { noPaint } from './paint.js';
import { fields, table } from './table.js';
import { plain, textWidth, wrap } from './text.js';
import { bytes, clock, length } from './time.js';

describe('plain', () => {
  it('shows controls in place of obeying them, and leaves every script alone', () => {
    expect(plain('a\u001b[31m\u0007\u009b\u202e\n')).toBe('a\\x1b[31m\\x07\\x9b\\u202e\\n');
    expect(plain('Ünïcode 会議 🎙️ שלום')).toBe('Ünïcode 会議 🎙️ שלום');
  });
});

describe('textWidth', () => {
  it.each([
    ['abc', 3],
    ['会議', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['\u001b[31mred\u001b[39m', 3],
  ])('%j takes %i columns', (text, width) => expect(textWidth(text)).toBe(width));
});

describe('wrap', () => {
  it('breaks at spaces, and inside a word only when it is longer than a line', () => {
    expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(wrap('a bbbbbbbb c', 4)).toEqual(['a', 'bbbb', 'bbbb', 'c']);
    expect(wrap('会議会議', 5)).toEqual(['会議', '会議']);
    expect(wrap('', 5)).toEqual(['']);
  });
});

describe('table', () => {
  const columns = [{ title: 'Id' }, { title: 'n', align: 'right' as const }, { title: 'Name', flexible: true }];
  const rows = [
    ['a', '1', 'a name that is rather long'],
    ['bb', '12', '会議'],
  ];

  it('aligns its columns', () => {
    expect(table(columns, rows, Number.POSITIVE_INFINITY)).toBe(
      ['ID   N  NAME', 'a    1  a name that is rather long', 'bb  12  会議'].join('\n'),
    );
  });

  it('wraps a flexible column, and stacks when even that is too wide', () => {
    expect(table(columns, rows, 26).split('\n')).toEqual(['ID   N  NAME', 'a    1  a name that is', '        rather long', 'bb  12  会議']);
    expect(table(columns, rows, 20).split('\n').slice(0, 3)).toEqual(['Id    a', 'n     1', 'Name  a name that is']);
  });

  it('hangs long values beneath themselves', () => {
    expect(fields([['Key', 'one two three']], 13)).toBe('Key  one two\n     three');
  });
});

describe('a line', () => {
  const line = { track: 'room', start_ms: 3_600_000, end_ms: 3_601_000, speaker: 'Ana', text: 'Good morning everybody' } as const;
  it('stands beside its time, and beneath it where the terminal is narrow', () => {
    const at = (width: number) => lineText(line, { width, paint: noPaint });
    expect(at(80)).toBe('1:00:00  room  Ana: Good morning everybody');
    expect(at(20)).toBe('1:00:00  room\n  Ana: Good morning\n  everybody');
  });
});

describe('times and sizes', () => {
  it('reads as a person would say them', () => {
    expect([clock(0), clock(59_999), clock(3_600_000)]).toEqual(['00:00', '00:59', '1:00:00']);
    expect([length(900), length(60_000), length(3_720_000)]).toEqual(['1 s', '1 min', '1 h 2 min']);
    expect([bytes(812), bytes(3_565_158)]).toEqual(['812 B', '3.4 MiB']);
  });
});

describe('toJson', () => {
  it('escapes what a terminal would act on, and stays the same value', () => {
    const text = toJson({ name: '\u009b31m\u202e\u001b' });
    expect(text).toBe('{"name":"\\u009b31m\\u202e\\u001b"}');
    expect(JSON.parse(text)).toEqual({ name: '\u009b31m\u202e\u001b' });
  });
});
