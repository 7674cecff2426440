import { type Check, check, TRACKS, type Track } from '@ambient/contract';
import { listDevices } from '../capture/devices.js';
import { toAmbientError } from '../capture/open-tracks.js';
import { MicSource } from '../capture/sources/mic/source.js';
import { SystemSource } from '../capture/sources/system/source.js';
import type { Recorder } from '../capture/types.js';
import type { ConfigStore } from '../config/config-store.js';
import type { SessionStore } from '../sessions/types.js';
import { listen, liveTrackCheck, TRACK_TITLES, trackId } from './live-tracks.js';
import { judgeCall, judgeRoom, type Verdict } from './silence.js';
import { testCapture } from './test-capture.js';

interface RecorderTestDeps {
  readonly config: ConfigStore;
  readonly recorder: Recorder;
  readonly store: SessionStore;
  readonly platform?: NodeJS.Platform;
}

/** Listens to each track for half a second; while something is recorded, looks at what the recording hears instead. */
export class RecorderTest {
  readonly #deps: RecorderTestDeps;
  readonly #platform: NodeJS.Platform;
  /** Tracks of the last test that gave nothing but zeros, and whose silence nothing explained. */
  readonly silent = new Set<Track>();

  constructor(deps: RecorderTestDeps) {
    this.#deps = deps;
    this.#platform = deps.platform ?? process.platform;
  }

  async examine(): Promise<readonly Check[]> {
    const { recorder } = this.#deps;
    this.silent.clear();
    if (recorder.live() === null) {
      const checks = await Promise.all([this.#room(), this.#call()]);
      // A recording that began meanwhile came first: it may have taken the device.
      if (recorder.live() === null) return checks;
      this.silent.clear();
    }
    return this.#live();
  }

  #room(): Promise<Check> {
    const { config } = this.#deps;
    const request = { device: config.get('audio.device'), recorder: config.get('audio.recorder') };
    return this.#test('room', async () => {
      const heard = await testCapture(new MicSource(request, { worked: null }, this.#platform));
      return { heard, verdict: await judgeRoom(heard, this.#platform) };
    });
  }

  #call(): Promise<Check> {
    const request = { device: this.#deps.config.get('audio.system_device') };
    return this.#test('call', async () => {
      const heard = await testCapture(new SystemSource(request, this.#platform));
      return { heard, verdict: await judgeCall(heard, this.#platform) };
    });
  }

  async #test(
    track: Track,
    test: () => Promise<{ heard: { recorder: string | null; device: string | null }; verdict: Verdict }>,
  ): Promise<Check> {
    const [id, title] = [trackId(track), TRACK_TITLES[track]];
    try {
      const { heard, verdict } = await test();
      if (verdict.unexplained === true) this.silent.add(track);
      const from = `${heard.recorder ?? 'A recorder'} records ${heard.device ?? 'the default device'}`;
      const detail = `${from}: ${verdict.detail}`;
      return verdict.status === 'ok' ? check.ok(id, title, detail) : check[verdict.status](id, title, detail, verdict.fix);
    } catch (error) {
      const { code, message, hint } = toAmbientError(error);
      const none = code === 'no_source' && !(await this.#anyDevice(track));
      const fix = hint ?? 'See `ambientctl devices`.';
      return check.failure(id, title, none ? `${NO_DEVICE[track]} ${message}` : message, fix);
    }
  }

  async #anyDevice(track: Track): Promise<boolean> {
    const { devices } = await listDevices(this.#platform).catch(() => ({ devices: [] }));
    return devices.some(({ kind }) => kind === (track === 'room' ? 'mic' : 'system'));
  }

  async #live(): Promise<readonly Check[]> {
    const { recorder, store } = this.#deps;
    const peaks = await listen(recorder);
    const live = recorder.live();
    if (live === null)
      return TRACKS.map((track) => check.ok(trackId(track), TRACK_TITLES[track], 'Not tried: a recording was just ending.'));
    const { file } = await store.get(live.id);
    return TRACKS.map((track) => {
      const result = liveTrackCheck(track, { live, file, gaps: recorder.gaps(), peakDb: peaks.get(track) });
      const quiet = live.tracks.includes(track) && file.tracks[track]?.source !== 'file' && result.status === 'failure';
      if (quiet && file.warnings.some((warning) => warning.code === 'silent_track' && warning.track === track)) this.silent.add(track);
      return result;
    });
  }
}

const NO_DEVICE: Readonly<Record<Track, string>> = {
  room: 'This computer has no microphone.',
  call: 'This computer has no output whose sound could be recorded.',
};
