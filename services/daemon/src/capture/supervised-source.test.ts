import { AmbientError } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CaptureListener, CaptureSource, SourceDeath } from './source.js';
import { SupervisedSource } from './supervised-source.js';

/** A recorder whose life a test decides. */
class Scripted implements CaptureSource {
  readonly track = 'room' as const;
  readonly kind = 'mic' as const;
  starts = 0;
  aborts = 0;
  /** Called at each start; throws to fail it. */
  onStart: (listener: CaptureListener) => void = () => {};

  async start(listener: CaptureListener) {
    this.starts++;
    this.onStart(listener);
    return { recorder: 'sox', device: null };
  }
  async stop() {}
  abort() {
    this.aborts++;
  }
  async verify() {
    return null;
  }
}

describe('SupervisedSource', () => {
  let source: Scripted;
  let deaths: SourceDeath[];
  let ups: number;
  let supervised: SupervisedSource;
  const death: SourceDeath = { reason: 'recorder_died', message: 'sox ended' };
  const tickFor = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 250) {
      await vi.advanceTimersByTimeAsync(250);
      supervised.tick();
    }
  };

  beforeEach(() => {
    vi.useFakeTimers();
    source = new Scripted();
    deaths = [];
    ups = 0;
    supervised = new SupervisedSource(source, () => performance.now(), {
      block: () => {},
      up: () => {
        ups++;
      },
      down: (d) => deaths.push(d),
      ended: () => {},
      ready: async () => {},
    });
  });
  afterEach(async () => {
    await supervised.close();
    vi.useRealTimers();
  });

  it('restarts a recorder that dies at once with growing pauses, and never gives up', async () => {
    source.onStart = (listener) => setTimeout(() => listener.died(death), 10);
    await supervised.open();
    await tickFor(60_000);
    // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10, 10 s …
    expect(source.starts).toBeGreaterThan(8);
    expect(source.starts).toBeLessThan(14);
    const before = source.starts;
    await tickFor(60_000);
    expect(source.starts - before).toBeGreaterThanOrEqual(5);
  });

  it('is told once that a device went, however often it cannot be started again', async () => {
    let listener: CaptureListener | undefined;
    source.onStart = (l) => {
      listener = l;
    };
    await supervised.open();
    source.onStart = () => {
      throw new AmbientError('no_source', 'gone');
    };
    listener?.died(death);
    await tickFor(30_000);
    expect(deaths).toEqual([death]);
    expect(source.starts).toBeGreaterThan(5);
    source.onStart = () => {};
    expect(ups).toBe(1);
    await tickFor(10_250);
    expect(ups).toBe(2);
  });

  it('ends a recorder that gives nothing for two seconds, but not one whose samples waited for this process', async () => {
    await supervised.open();
    // The process stood still for a minute.
    await vi.advanceTimersByTimeAsync(60_000);
    supervised.tick();
    expect(source.aborts).toBe(0);
    await tickFor(2500);
    expect(source.aborts).toBe(1);
    expect(deaths).toMatchObject([{ reason: 'recorder_stalled' }]);
  });

  it('starts at once after sleep instead of waiting out a long pause', async () => {
    await supervised.open();
    source.onStart = () => {
      throw new AmbientError('no_source', 'gone');
    };
    supervised.restart(death);
    await tickFor(20_000);
    source.onStart = () => {};
    const before = source.starts;
    supervised.wake({ reason: 'sleep', message: '' });
    await vi.advanceTimersByTimeAsync(1);
    expect(source.starts).toBe(before + 1);
    expect(supervised.running).toBe(true);
  });

  describe('of a device that keeps no time', () => {
    let pcm: number;
    beforeEach(() => {
      pcm = 0;
      supervised = new SupervisedSource(source, () => performance.now(), {
        block: (block) => {
          pcm += block.length / 2;
        },
        up: () => {},
        down: (d) => deaths.push(d),
        ended: () => {},
        ready: async () => {},
      });
    });
    /** From each start on gives `times` as much as time passes, until it is ended. */
    const deliver = (times: number, kind: 'mic' | 'file' = 'mic'): void => {
      Object.assign(source, { kind });
      let timer: NodeJS.Timeout | undefined;
      source.onStart = (listener) => {
        timer = setInterval(() => listener.samples(Buffer.alloc(Math.round(50 * 16 * times) * 2)), 50);
      };
      source.abort = () => {
        source.aborts++;
        clearInterval(timer);
      };
    };

    it.each([100, 3, 1.6])('%f times as fast: it is restarted with growing pauses, and what comes stays bounded', async (times) => {
      deliver(times);
      await supervised.open();
      await tickFor(300_000);
      expect(deaths[0]).toMatchObject({ reason: 'too_fast', message: expect.stringContaining(' times as many samples as time passes') });
      expect(source.aborts).toBeGreaterThan(5);
      // Pauses of up to 10 s are between the starts.
      expect(source.aborts).toBeLessThan(45);
      expect(pcm / 16).toBeLessThan(300_000 * Math.min(times, 1.5));
    });

    it('a tenth too fast, as with a wrong sample rate, or a burst at its start: it is left alone', async () => {
      deliver(1.1);
      const { onStart } = source;
      source.onStart = (listener) => {
        onStart(listener);
        listener.samples(Buffer.alloc(16_000 * 2 * 2 - 2000));
      };
      await supervised.open();
      await tickFor(120_000);
      expect({ deaths, starts: source.starts }).toEqual({ deaths: [], starts: 1 });
    });

    it('a file has no clock to keep', async () => {
      deliver(100, 'file');
      await supervised.open();
      await tickFor(10_000);
      expect(deaths).toEqual([]);
    });
  });

  it('stays silent once closed', async () => {
    await supervised.open();
    supervised.restart(death);
    await supervised.close();
    await tickFor(30_000);
    expect(source.starts).toBe(1);
  });
});
