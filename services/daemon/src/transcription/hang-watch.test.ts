import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HangWatch } from './hang-watch.js';

describe('HangWatch', () => {
  let hangs: [limitMs: number, stream: number | undefined][];
  let watch: HangWatch;
  beforeEach(() => {
    vi.useFakeTimers();
    hangs = [];
    watch = new HangWatch({
      decodeLimitMs: (turnMs) => 100 + turnMs,
      answerLimitMs: 1000,
      onHang: (limitMs, stream) => hangs.push([limitMs, stream]),
    });
  });
  afterEach(() => vi.useRealTimers());

  it('names the stream whose turn takes too long, however busy another is', () => {
    watch.asked(1);
    watch.decoding(1, 50);
    for (let i = 0; i < 5; i++) {
      watch.asked(2);
      watch.decoding(2, 10);
      vi.advanceTimersByTime(29);
      watch.decoded(2);
      watch.answered(2);
    }
    expect(hangs).toEqual([]);
    vi.advanceTimersByTime(10);
    expect(hangs).toEqual([[150, 1]]);
  });

  it('gives the second turn of a stream its whole time once the first is answered', () => {
    watch.decoding(1, 80);
    watch.decoding(1, 10);
    vi.advanceTimersByTime(179);
    watch.decoded(1);
    vi.advanceTimersByTime(109);
    expect(hangs).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(hangs).toEqual([[110, 1]]);
  });

  it('waits for an answer that is owed between turns, and for nothing once it came', () => {
    watch.asked(1);
    watch.decoding(1, 0);
    watch.decoded(1);
    vi.advanceTimersByTime(999);
    watch.answered(1);
    vi.advanceTimersByTime(5000);
    expect(hangs).toEqual([]);
    watch.asked(1);
    vi.advanceTimersByTime(1001);
    expect(hangs).toEqual([[1000, undefined]]);
  });

  it('forgets a stream that was closed and a recognizer that is gone', () => {
    watch.asked(1);
    watch.decoding(1, 0);
    watch.forget(1);
    watch.asked(2);
    watch.decoding(2, 0);
    watch.clear();
    vi.advanceTimersByTime(5000);
    expect(hangs).toEqual([]);
  });
});
