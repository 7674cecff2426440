import type { Track, TrackInfo, Warning } from '@ambient/contract';
import { pulseSinkInputs, pulseSinks } from './pulse.js';

/** What is looked at of a track. */
export interface Heard {
  readonly track: Track;
  readonly info: Pick<TrackInfo, 'source'>;
  readonly device: string | null;
  /** It runs, and is neither paused nor muted. */
  readonly delivering: boolean;
  /** Highest peak since the last call, dBFS. */
  takePeak(): number;
}

/** Peaks up to this are no sound, dBFS. */
const NOISE_FLOOR_DB = -70;
/** With looks every 2 s, the warning stands within 30 s. */
const SILENT_MS = 26_000;

/** Tells when a track hears nothing although there is something to hear. Never stops anything. */
export class SilenceWatch {
  readonly #tracks: readonly Heard[];
  readonly #speaking: (track: Track) => boolean;
  readonly #warn: (warning: Omit<Warning, 'at'>) => void;
  readonly #platform: NodeJS.Platform;
  readonly #silentSince = new Map<Track, number>();
  readonly #told = new Set<Track>();
  /** When the other track was last heard to speak, ms. */
  readonly #heard = new Map<Track, number>();

  constructor(
    tracks: readonly Heard[],
    speaking: (track: Track) => boolean,
    warn: (warning: Omit<Warning, 'at'>) => void,
    platform: NodeJS.Platform = process.platform,
  ) {
    this.#tracks = tracks;
    this.#speaking = speaking;
    this.#warn = warn;
    this.#platform = platform;
  }

  /** To be called every few seconds. */
  async look(nowMs: number): Promise<void> {
    for (const live of this.#tracks) {
      const { track } = live;
      if (this.#speaking(track)) this.#heard.set(track, nowMs);
      const peak = live.takePeak();
      if (!live.delivering || live.info.source === 'file' || peak > NOISE_FLOOR_DB) {
        this.#silentSince.delete(track);
        this.#told.delete(track);
        continue;
      }
      const since = this.#silentSince.get(track) ?? nowMs;
      this.#silentSince.set(track, since);
      if (nowMs - since < SILENT_MS || this.#told.has(track)) continue;
      const warning = await this.#judge(live, since);
      if (warning === null) continue;
      this.#told.add(track);
      this.#warn({ code: 'silent_track', track, ...warning });
    }
  }

  /** What speaks for a fault, or null when there may simply be nothing to hear. */
  async #judge(live: Heard, since: number): Promise<Pick<Warning, 'message' | 'hint'> | null> {
    if (live.track === 'room') return this.#judgeRoom(live, since);
    return this.#platform === 'darwin' ? this.#judgeMacCall(since) : judgePulseCall(live);
  }

  #judgeRoom(live: Heard, since: number): Pick<Warning, 'message' | 'hint'> | null {
    const mac = this.#platform === 'darwin';
    // A true microphone always hears a little; macOS gives zeros for a missing permission without any error.
    if (!mac && !this.#spokeSince('call', since)) return null;
    const hint = mac
      ? 'Allow the microphone under System Settings → Privacy & Security → Microphone; a daemon under launchd needs its own grant: ambientctl doctor.'
      : 'It is muted, switched off or the wrong one: see `ambientctl devices`, and unmute with `pactl set-source-mute @DEFAULT_SOURCE@ 0`.';
    return { message: `The microphone (${live.device ?? 'default'}) has given only silence for half a minute.`, hint };
  }

  #spokeSince(track: Track, since: number): boolean {
    const heard = this.#heard.get(track);
    return heard !== undefined && heard >= since;
  }

  #judgeMacCall(since: number): Pick<Warning, 'message' | 'hint'> | null {
    if (!this.#spokeSince('room', since)) return null;
    return {
      message: 'System audio has given only zeros for half a minute. If something plays, the permission is missing.',
      hint: 'Allow it under System Settings → Privacy & Security → Screen & System Audio Recording; then check with ambientctl doctor.',
    };
  }
}

/** What a sound server says of a call that is silent: null when nothing plays. */
export async function judgePulseCall(live: Heard): Promise<Pick<Warning, 'message' | 'hint'> | null> {
  const playing = (await pulseSinkInputs()).filter((input) => !input.corked);
  if (playing.length === 0) return null;
  const sinks = await pulseSinks();
  const recorded = sinks.find((sink) => live.device === `${sink.name}.monitor`);
  const elsewhere = playing.find((input) => input.sink !== recorded?.index);
  const here = playing.find((input) => input.sink === recorded?.index);
  if (here === undefined && elsewhere !== undefined) {
    const other = sinks.find((sink) => sink.index === elsewhere.sink)?.name ?? 'another output';
    return {
      message: `${elsewhere.application} plays on ${other}, but ${recorded?.name ?? live.device} is recorded, and is silent.`,
      hint: `Record that output: ambientctl config audio.system_device ${other}, or make it the default: pactl set-default-sink ${other}`,
    };
  }
  return {
    message: `${here?.application ?? 'A program'} plays, but the recorded output ${recorded?.name ?? ''} is silent${here?.muted === true ? ': the program is muted' : ''}.`,
    hint: 'Unmute the program or raise its volume (pavucontrol, `pactl list sink-inputs`).',
  };
}
