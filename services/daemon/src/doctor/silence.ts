import { type PulseSource, pulseDefaults, pulseSinkInputs, pulseSinks, pulseSources } from '../capture/pulse.js';
import { SystemSource } from '../capture/sources/system/source.js';
import { isSilent, type TestCapture, testCapture } from './test-capture.js';

/** What a test capture means. */
export type Verdict = { readonly detail: string; readonly unexplained?: true } & (
  | { readonly status: 'ok' }
  | { readonly status: 'warning' | 'failure'; readonly fix: string }
);

/** The stand-in output that PulseAudio and PipeWire make when no sound card is there. */
const DUMMY_SINK = 'auto_null';

/** @param heard what came from the microphone */
export async function judgeRoom(heard: TestCapture, platform: NodeJS.Platform): Promise<Verdict> {
  if (platform === 'darwin') return isSilent(heard) ? macRoom() : { status: 'ok', detail: level(heard) };
  const source = await sourceNamed(heard.device);
  if (source?.monitorOf === DUMMY_SINK)
    return {
      status: 'failure',
      detail: 'this computer has no microphone, only the dummy device of the sound server.',
      fix: 'Connect a microphone, or record system audio alone: `ambientctl start --no-mic`.',
    };
  if (source !== null && source.monitorOf !== null && source.monitorOf === (await pulseDefaults())?.sink)
    return {
      status: 'failure',
      detail: 'that is no microphone but what the computer plays, so both tracks hold the same sound.',
      fix: 'Choose a microphone: `pactl set-default-source NAME`, or `ambientctl config audio.device NAME`; `ambientctl devices` lists them.',
    };
  if (!isSilent(heard)) return { status: 'ok', detail: level(heard) };
  if (source?.muted === true)
    return { status: 'failure', detail: 'it is muted, and gives only zeros.', fix: `Unmute it: pactl set-source-mute ${source.name} 0` };
  // The monitor of an output is silent when nothing plays there; a true microphone always hears a little.
  if (source !== null && source.monitorOf !== null) return { status: 'ok', detail: 'silent, as nothing plays there.' };
  return {
    status: 'warning',
    detail: 'it gives only zeros: it is switched off, turned down, or not the one you speak into.',
    fix: 'Switch it on or turn it up (pavucontrol or alsamixer), or choose another: `ambientctl devices`, then `ambientctl config audio.device NAME`.',
  };
}

/** @param heard what came from the computer's own output */
export async function judgeCall(heard: TestCapture, platform: NodeJS.Platform): Promise<Verdict> {
  if (heard.device === `${DUMMY_SINK}.monitor`)
    return {
      status: 'failure',
      detail: 'this computer has no sound output, only the dummy device of the sound server.',
      fix: 'Connect an output and make it the default: `pactl list short sinks`, then `pactl set-default-sink NAME`.',
    };
  if (!isSilent(heard)) return { status: 'ok', detail: level(heard) };
  return platform === 'darwin' ? macCall() : silentPulseCall(heard.device);
}

/** macOS gives zeros, and no error, to a program that may not listen. */
function macRoom(): Verdict {
  return {
    status: 'failure',
    detail: 'it gives only zeros.',
    fix: 'Allow it under System Settings → Privacy & Security → Microphone.',
    unexplained: true,
  };
}

/** Nobody can tell whether something plays just now. */
function macCall(): Verdict {
  return {
    status: 'warning',
    detail: 'it gives only zeros. If nothing plays just now, that is as it should be.',
    fix: 'Play something and run `ambientctl doctor` again.',
    unexplained: true,
  };
}

/** Looks for sound that goes to another output than the one that is recorded. */
async function silentPulseCall(device: string | null): Promise<Verdict> {
  const playing = (await pulseSinkInputs()).filter((input) => !input.corked);
  const sinks = await pulseSinks();
  const recorded = sinks.find((sink) => `${sink.name}.monitor` === device);
  for (const sink of sinks) {
    const input = playing.find((one) => one.sink === sink.index);
    if (input === undefined || sink === recorded || !(await sounds(sink.name))) continue;
    return {
      status: 'failure',
      detail: `it is silent, while ${input.application} plays on ${sink.name}: the wrong output is recorded.`,
      fix: `Record that output: \`ambientctl config audio.system_device ${sink.name}\`, or make it the default: \`pactl set-default-sink ${sink.name}\`.`,
    };
  }
  const here = playing.find((input) => input.sink === recorded?.index);
  if (here === undefined) return { status: 'ok', detail: 'silent, as nothing plays.' };
  return {
    status: 'warning',
    detail: `${here.application} plays there, and nothing is heard${here.muted ? ': it is muted' : ''}.`,
    fix: 'Unmute the program or raise its volume (pavucontrol).',
  };
}

async function sounds(sink: string): Promise<boolean> {
  try {
    return !isSilent(await testCapture(new SystemSource({ device: sink })));
  } catch {
    return false;
  }
}

async function sourceNamed(name: string | null): Promise<PulseSource | null> {
  return name === null ? null : ((await pulseSources()).find((source) => source.name === name) ?? null);
}

function level({ peakDb }: TestCapture): string {
  return `peak ${Math.round(peakDb)} dBFS.`;
}
