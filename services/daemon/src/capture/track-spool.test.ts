import { mkdtemp, open as openFile, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TrackSpool } from './track-spool.js';

describe('TrackSpool', () => {
  let dir: string;
  const open = async (file = 'audio/room.wav'): Promise<TrackSpool> => {
    const spool = new TrackSpool({ track: 'room', path: path.join(dir, file), offsetMs: 0, onFailure: fail });
    await spool.start();
    return spool;
  };
  const pcm = (samples: number, value: number): Buffer => Buffer.from(new Int16Array(samples).fill(value).buffer);

  const fail = (error: Error): never => {
    throw error;
  };

  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'spool-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('keeps samples and silences of any length in order', async () => {
    const spool = await open();
    spool.append(pcm(100, 7));
    spool.silence(5);
    spool.silence(100_000);
    spool.append(pcm(3, -9));
    spool.append(pcm(300_000, 1));
    await spool.finish();
    const bytes = await readFile(spool.path);
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
    const at = (i: number): number => bytes.readInt16LE(44 + i * 2);
    expect([at(0), at(99), at(100), at(100_104), at(100_105), at(100_107), at(100_108), at(400_107)]).toEqual([7, 7, 0, 0, -9, -9, 1, 1]);
    expect(spool.available()).toBe(400_108);
    expect(spool.taken).toBe(400_108);
  });

  it('has a true header on disk while it still records', async () => {
    const spool = await open();
    const timer = setInterval(() => spool.append(pcm(1600, 5)), 100);
    try {
      await new Promise((resolve) => setTimeout(resolve, 1600));
      const bytes = await readFile(spool.path);
      const declared = bytes.readUInt32LE(40) / 2;
      expect(declared).toBeGreaterThan(0);
      expect(declared).toBeLessThanOrEqual((bytes.length - 44) / 2);
    } finally {
      clearInterval(timer);
      await spool.finish();
    }
  });

  it('makes the first samples durable at once, in however many pieces they come', async () => {
    // The regular syncs never come.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const spool = await open();
    try {
      for (let piece = 0; piece < 20; piece++) spool.append(pcm(1600, 5));
      let declared = 0;
      for (let looks = 0; looks < 200 && declared === 0; looks++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        declared = (await readFile(spool.path)).readUInt32LE(40) / 2;
      }
      expect(declared).toBe(32_000);
    } finally {
      await spool.finish();
      vi.useRealTimers();
    }
  });

  it('tells readers how far they may read, and the end only after the last sample', async () => {
    const spool = await open();
    const seen: [number, boolean][] = [];
    spool.subscribe(() => seen.push([spool.available(), spool.ended()]));
    spool.append(pcm(10, 1));
    await spool.finish();
    expect(seen).toEqual([[10, false]]);
    spool.end();
    expect(seen.at(-1)).toEqual([10, true]);
  });

  it('makes a writer wait that runs ahead of the disk, and lets it go on', async () => {
    const spool = await open();
    for (let i = 0; i < 50; i++) {
      spool.append(pcm(16_000, i));
      await spool.drained(64_000);
      expect(spool.waitingBytes).toBeLessThanOrEqual(64_000);
    }
    await spool.finish();
    expect(spool.available()).toBe(800_000);
  });

  it('keeps the length true with silence when the disk hangs longer than its queue holds', async () => {
    const spool = await open();
    // All in one turn of the event loop: the disk gets no chance.
    for (let i = 0; i < 40; i++) spool.append(pcm(512 * 1024, 3));
    await spool.finish();
    expect(spool.available()).toBe(40 * 512 * 1024);
    const bytes = await readFile(spool.path);
    expect(bytes.readInt16LE(44)).toBe(3);
    expect(bytes.readInt16LE(bytes.length - 2)).toBe(0);
  });

  it('goes on writing while the disk is slow to sync', async () => {
    const probe = await openFile(path.join(dir, 'probe'), 'w');
    const datasync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, 'datasync');
    await probe.close();
    let synced = (): void => {};
    datasync.mockImplementation(() => new Promise<void>((resolve) => (synced = resolve)));
    const spool = await open();
    try {
      spool.append(pcm(1600, 5));
      while (datasync.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      spool.append(pcm(1600, 6));
      while (spool.available() < 3200) await new Promise((resolve) => setTimeout(resolve, 5));
      expect((await readFile(spool.path)).length).toBe(44 + 6400);
    } finally {
      datasync.mockRestore();
      synced();
      await spool.finish();
    }
    expect((await readFile(spool.path)).readUInt32LE(40)).toBe(6400);
  });
});
