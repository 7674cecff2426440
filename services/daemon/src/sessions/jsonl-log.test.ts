import { appendFile, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { JsonlLog } from './jsonl-log.js';

const Entry = z.looseObject({ n: z.number() });
let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'log-'));
  file = path.join(dir, 'raw.jsonl');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = () => new JsonlLog(file, Entry);
const numbers = async (log = open()) => (await log.read()).map((entry) => entry?.n);

test('wherever a crash cuts the file, whole lines stay, the torn one goes, and the next append lands after them', async () => {
  const lines = [0, 1, 2].map((n) => `${JSON.stringify({ n, text: `Grüße 会議 ${n}` })}\n`);
  const bytes = Buffer.from(lines.join(''));
  for (let cut = 0; cut <= bytes.length; cut++) {
    await writeFile(file, bytes.subarray(0, cut));
    const whole = lines.filter((_, i) => Buffer.byteLength(lines.slice(0, i + 1).join('')) - 1 <= cut).length;
    const expected = [...Array(whole).keys()];
    expect(await numbers(), `cut at ${cut}`).toEqual(expected);
    const log = open();
    expect(await log.append({ n: 9 })).toBe(whole);
    expect(await numbers(log)).toEqual([...expected, 9]);
    expect(await readFile(file, 'utf8')).toBe(`${lines.slice(0, whole).join('')}{"n":9}\n`);
  }
});

test('any garbage after whole lines is cut and nothing before it is touched', async () => {
  const garbage = fc.uint8Array({ maxLength: 60 }).filter((bytes) => !/[\n{]/.test(Buffer.from(bytes).toString('latin1')));
  await fc.assert(
    fc.asyncProperty(fc.nat(4), garbage, async (count, tail) => {
      const whole = Array.from({ length: count }, (_, n) => `{"n":${n}}\n`).join('');
      await writeFile(file, Buffer.concat([Buffer.from(whole), tail]));
      const log = open();
      await log.repair();
      expect(await readFile(file, 'utf8')).toBe(whole);
      expect(await numbers(log)).toEqual([...Array(count).keys()]);
    }),
    { numRuns: 200 },
  );
});

test('zeros that a power cut leaves at the end are cut, also with a newline after them', async () => {
  for (const tail of ['\0'.repeat(300), `${'\0'.repeat(300)}\n`, '{"n":1,"te\n']) {
    await writeFile(file, `{"n":0}\n${tail}`);
    expect(await open().repair()).toBe(tail.length);
    expect(await readFile(file, 'utf8')).toBe('{"n":0}\n');
  }
});

test('a complete last line that lacks only its newline is kept and ended', async () => {
  await writeFile(file, '{"n":0}\n{"n":1}');
  const log = open();
  expect(await numbers(log)).toEqual([0, 1]);
  expect(await log.append({ n: 2 })).toBe(2);
  expect(await readFile(file, 'utf8')).toBe('{"n":0}\n{"n":1}\n{"n":2}\n');
});

test('a line that is damaged or unknown in the middle keeps its place, so that numbers hold', async () => {
  await writeFile(file, '{"n":0}\n{"n":\n{"op":"from a newer version"}\n{"n":3}\n{"m":"newer, at the end"}\n');
  const log = open();
  expect(await numbers(log)).toEqual([0, undefined, undefined, 3, undefined]);
  expect(await log.append({ n: 5 })).toBe(5);
  expect(await readFile(file, 'utf8')).toContain('newer, at the end');
});

test('lines that somebody else added are seen', async () => {
  const log = open();
  await log.append({ n: 0 });
  await appendFile(file, '{"n":1}\n');
  expect(await numbers(log)).toEqual([0, 1]);
  expect(await log.append({ n: 2 })).toBe(2);
});

test('rewriting changes only what it is told to and keeps the bytes of every other line', async () => {
  await writeFile(file, '{"n":0,  "kept": "as it is"}\n{"n":1}\nnot json\n{"n":3}\n');
  const log = open();
  expect(await log.rewrite((entry) => (entry.n === 1 ? { n: 11 } : entry))).toEqual([1]);
  expect(await readFile(file, 'utf8')).toBe('{"n":0,  "kept": "as it is"}\n{"n":11}\nnot json\n{"n":3}\n');
  expect(await numbers(log)).toEqual([0, 11, undefined, 3]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a new log is for its owner only, and a link is never followed', async () => {
  await open().append({ n: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(file);
  const other = path.join(dir, 'other');
  await writeFile(other, '{"n":0}\n');
  await symlink('other', file);
  await expect(open().read()).rejects.toMatchObject({ code: 'refused_symlink' });
  await expect(open().append({ n: 1 })).rejects.toMatchObject({ code: 'refused_symlink' });
  expect(await readFile(other, 'utf8')).toBe('{"n":0}\n');
});
