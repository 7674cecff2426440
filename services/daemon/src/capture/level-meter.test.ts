import { describe, expect, it } from 'vitest';
import { FLOOR_DB, LevelMeter } from './level-meter.js';

describe('LevelMeter', () => {
  it('reads 0 dBFS for full scale, -6 dB for half of it, the floor for digital silence and for nothing', () => {
    const meter = new LevelMeter();
    meter.add(Buffer.from(new Int16Array(100).fill(-32768).buffer));
    expect(meter.read()).toEqual({ rms_db: 0, peak_db: 0 });
    meter.add(Buffer.from(new Int16Array(100).fill(16384).buffer));
    expect(meter.read()).toEqual({ rms_db: -6, peak_db: -6 });
    meter.add(Buffer.alloc(200));
    expect(meter.read()).toEqual({ rms_db: FLOOR_DB, peak_db: FLOOR_DB });
    expect(meter.read()).toEqual({ rms_db: FLOOR_DB, peak_db: FLOOR_DB });
  });
});
