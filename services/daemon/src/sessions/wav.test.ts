import { spawnSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WAV_HEADER_BYTES } from './audio-feed.js';
import { readSamples, repairHeader, wavHeader, writeHeader, zeroSamples } from './wav.js';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'wav-'));
  file = path.join(dir, 'room.wav');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const ramp = (n: number) => Buffer.from(Int16Array.from({ length: n }, (_, i) => i - 50).buffer);

test('a spool whose header says nothing is repaired from its size, without its odd last byte', async () => {
  await writeFile(file, Buffer.concat([wavHeader(0), ramp(100), Buffer.from([7])]));
  expect(await repairHeader(file)).toBe(100);
  const bytes = await readFile(file);
  expect(bytes.length).toBe(WAV_HEADER_BYTES + 200);
  expect(bytes.subarray(0, 44)).toEqual(wavHeader(100));
  expect(bytes.subarray(44)).toEqual(ramp(100));
});

test('a repaired spool opens in another program with its true length', async () => {
  await writeFile(file, Buffer.concat([Buffer.alloc(44), ramp(16_000)]));
  await repairHeader(file);
  const soxi = spawnSync('soxi', ['-s', file], { encoding: 'utf8' });
  if (soxi.error === undefined) expect(soxi.stdout.trim()).toBe('16000');
  const header = await readFile(file);
  expect(header.toString('latin1', 0, 4) + header.toString('latin1', 8, 16) + header.toString('latin1', 36, 40)).toBe('RIFFWAVEfmt data');
  expect([header.readUInt32LE(4), header.readUInt32LE(24), header.readUInt16LE(34), header.readUInt32LE(40)]).toEqual([
    32_036, 16_000, 16, 32_000,
  ]);
});

test.each([0, 1, 20, 43, 44, 45])('a file of %i bytes, cut inside its header, becomes a valid file without samples', async (size) => {
  await writeFile(file, Buffer.alloc(size, 3));
  expect(await repairHeader(file)).toBe(0);
  expect(await readFile(file)).toEqual(wavHeader(0));
});

test('a correct file is left alone', async () => {
  await writeFile(file, Buffer.concat([wavHeader(10), ramp(10)]));
  const before = await stat(file, { bigint: true });
  expect(await repairHeader(file)).toBe(10);
  expect((await stat(file, { bigint: true })).ctimeNs).toBe(before.ctimeNs);
});

test('reading past the end gives what is there', async () => {
  await writeFile(file, Buffer.concat([wavHeader(100), ramp(100)]));
  expect([...(await readSamples(file, 98, 200))]).toEqual([48, 49]);
  expect([...(await readSamples(file, 500, 600))]).toEqual([]);
});

test('silencing stays inside the file while another handle appends to it', async () => {
  const writer = await open(file, 'w+');
  await writer.write(Buffer.concat([wavHeader(100), ramp(100)]));
  expect(await zeroSamples(file, 90, 1000)).toBe(10);
  await writer.write(ramp(100));
  await writeHeader(writer, 200);
  await writer.close();
  const samples = await readSamples(file, 0, 1000);
  expect(samples.length).toBe(200);
  expect([...samples.subarray(88, 102)]).toEqual([38, 39, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -50, -49]);
});

test('a link instead of a spool is refused', async () => {
  await writeFile(path.join(dir, 'other.wav'), ramp(10));
  await symlink('other.wav', file);
  await expect(repairHeader(file)).rejects.toMatchObject({ code: 'refused_symlink' });
  await expect(zeroSamples(file, 0, 5)).rejects.toMatchObject({ code: 'refused_symlink' });
  await expect(readSamples(file, 0, 5)).rejects.toMatchObject({ code: 'refused_symlink' });
});
