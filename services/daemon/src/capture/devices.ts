import type { Device, DeviceList } from '@ambient/contract';
import { z } from 'zod';
import { findProgram, output } from './programs.js';
import { pulseDefaults, pulseSinks, pulseSources } from './pulse.js';
import { micPrograms } from './sources/mic/probe.js';

/** Everything that can be recorded, and the programs to record it with. */
export async function listDevices(platform: NodeJS.Platform): Promise<DeviceList> {
  const devices = platform === 'darwin' ? await macDevices() : await linuxDevices();
  return { devices, recorders: [...(await micPrograms())] };
}

async function linuxDevices(): Promise<Device[]> {
  const defaults = await pulseDefaults();
  if (defaults === null) return alsaDevices();
  const mics = (await pulseSources())
    // A monitor is no microphone, unless it was made the default input.
    .filter((source) => source.monitorOf === null || source.name === defaults.source)
    .map(({ name, description }): Device => ({ id: name, name: description || name, kind: 'mic', default: name === defaults.source }));
  const sinks = (await pulseSinks()).map(
    ({ name, description }): Device => ({ id: name, name: description || name, kind: 'system', default: name === defaults.sink }),
  );
  return [...mics, ...sinks];
}

/** `card 1: Mic [USB Mic], device 0: …` of `arecord -l`. */
const ALSA_LINE = /^card \d+: (\S+) \[(.*?)\], device (\d+): (?:.*\[(.*)\])?/gm;

async function alsaDevices(): Promise<Device[]> {
  const program = await findProgram('arecord');
  const text = program === null ? '' : await output(program, ['-l']).catch(() => '');
  return [...text.matchAll(ALSA_LINE)].map(([, card, cardName, device, deviceName], index) => ({
    id: `plughw:CARD=${card},DEV=${device}`,
    name: [cardName, deviceName].filter(Boolean).join(', '),
    kind: 'mic',
    default: index === 0,
  }));
}

const MacAudio = z.object({
  SPAudioDataType: z.array(
    z.object({
      _items: z
        .array(
          z.object({
            _name: z.string(),
            coreaudio_device_input: z.number().optional(),
            coreaudio_device_output: z.number().optional(),
            coreaudio_default_audio_input_device: z.string().optional(),
            coreaudio_default_audio_output_device: z.string().optional(),
          }),
        )
        .default([]),
    }),
  ),
});

async function macDevices(): Promise<Device[]> {
  const text = await output('/usr/sbin/system_profiler', ['-json', 'SPAudioDataType'], 10_000).catch(() => '');
  const items = text === '' ? [] : MacAudio.parse(JSON.parse(text)).SPAudioDataType.flatMap((group) => group._items);
  return items.flatMap((item): Device[] => {
    const base = { id: item._name, name: item._name };
    return [
      ...(item.coreaudio_device_input === undefined
        ? []
        : [{ ...base, kind: 'mic' as const, default: item.coreaudio_default_audio_input_device === 'spaudio_yes' }]),
      ...(item.coreaudio_device_output === undefined
        ? []
        : [{ ...base, kind: 'system' as const, default: item.coreaudio_default_audio_output_device === 'spaudio_yes' }]),
    ];
  });
}
