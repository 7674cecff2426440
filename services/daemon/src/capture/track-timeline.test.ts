import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrackTimeline } from './track-timeline.js';

const HOUR_MS = 3_600_000;

interface Device {
  /** How much faster than true its clock runs, e.g. 0.001. */
  readonly fast: number;
  /** Samples a block. */
  readonly block: number;
  /** Delay of the block that was heard at `ms`. */
  delay(ms: number): number;
}

/** Runs a device for `lengthMs` and returns how far its last sample is from the truth, ms; positive: too late in the file. */
function run(device: Device, lengthMs = HOUR_MS, loseAt?: { ms: number; samples: number }): number {
  const timeline = new TrackTimeline(0);
  let heard = 0;
  let lost = false;
  let arrived = 0;
  while (heard < lengthMs) {
    heard += device.block / (16 * (1 + device.fast));
    if (loseAt !== undefined && !lost && heard > loseAt.ms) {
      lost = true;
      heard += loseAt.samples / 16;
      continue;
    }
    arrived = Math.max(arrived, heard + device.delay(heard));
    const { lost: hole, length } = timeline.place(device.block, arrived);
    timeline.advance(hole + length);
  }
  return timeline.position / 16 - heard;
}

/** Repeatable noise, 0..1. */
const noise = (ms: number): number => Math.abs(Math.sin(ms * 12.9898) * 43758.5453) % 1;
const JITTER = (ms: number): number => noise(ms) * 90;

describe('TrackTimeline', () => {
  it.each([
    ['0.1 % fast', 0.001],
    ['0.1 % slow', -0.001],
    ['0.19 % fast', 0.0019],
  ])('keeps a device that runs %s within 100 ms of the truth after an hour', (_name, fast) => {
    expect(Math.abs(run({ fast, block: 2048, delay: JITTER }))).toBeLessThan(100);
    expect(Math.abs(run({ fast, block: 800, delay: JITTER }))).toBeLessThan(100);
  });

  it('leaves a true device alone, however unevenly its blocks arrive', () => {
    const timeline = new TrackTimeline(0);
    let touched = 0;
    for (let heard = 128; heard < 600_000; heard += 128) {
      const { lost, length } = timeline.place(2048, heard + (Math.floor(heard / 128) % 3) * 40);
      timeline.advance(lost + length);
      if (lost > 0 || length !== 2048) touched++;
    }
    expect(touched).toBe(0);
  });

  it('is not deceived by a stall whose samples all come later', () => {
    const stall = (ms: number): number => (ms > 60_000 && ms < 61_500 ? 61_500 - ms : 5);
    expect(Math.abs(run({ fast: 0, block: 1600, delay: stall }, 120_000))).toBeLessThan(10);
  });

  it('makes up for samples that a recorder lost, and says how many', () => {
    expect(Math.abs(run({ fast: 0, block: 1600, delay: () => 20 }, 120_000, { ms: 60_000, samples: 16_000 }))).toBeLessThan(100);
  });

  it('brings even a device at a plainly wrong rate back to the clock', () => {
    expect(Math.abs(run({ fast: 48 / 44.1 - 1, block: 1600, delay: () => 20 }, 600_000))).toBeLessThan(2500);
  });

  it('never cuts a block to nothing and never lets the position run backwards', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 4000 }), fc.integer({ min: 0, max: 3000 })), { maxLength: 300 }),
        (blocks) => {
          const timeline = new TrackTimeline(0);
          let now = 0;
          for (const [samples, waitMs] of blocks) {
            now += waitMs;
            const { lost, length } = timeline.place(samples, now);
            expect(lost).toBeGreaterThanOrEqual(0);
            expect(length).toBeGreaterThanOrEqual(Math.floor(samples * 0.85) - 1);
            timeline.advance(lost + length);
          }
        },
      ),
    );
  });

  it('puts a restarted recorder where the clock is, and closes no hole that is only jitter', () => {
    const timeline = new TrackTimeline(1000);
    timeline.advance(16_000);
    expect(timeline.align(2010)).toBe(0);
    expect(timeline.align(2500)).toBe(8000);
    expect(timeline.align(1500)).toBe(0);
  });
});
