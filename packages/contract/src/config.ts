import { z } from 'zod';
import { DeviceName } from './devices.js';

export const MODELS = ['moonshine-base', 'moonshine-tiny'] as const;

/**
 * Every setting, flat and dotted, with its default. The same key is read from the environment as
 * `AMBIENT_` + upper case with dots as underscores (`transcription.model` → `AMBIENT_TRANSCRIPTION_MODEL`).
 */
export const ConfigSchema = z.object({
  'audio.device': DeviceName.nullable().default(null).describe('Microphone to record; null takes the default device'),
  'audio.system_device': DeviceName.nullable().default(null).describe('Sink whose monitor is the call track; null takes the default sink'),
  'audio.recorder': z.enum(['auto', 'sox', 'arecord', 'parec']).default('auto').describe('Program that records the microphone'),
  audio_retention_days: z
    .union([z.literal('forever'), z.number().min(0).max(36500)], { error: 'takes a number of days from 0 to 36500, or "forever"' })
    .default(7)
    .describe('Days to keep audio after the transcript is complete; 0 deletes it at once; "forever" keeps it'),
  'transcription.model': z.enum(MODELS).default('moonshine-base').describe('Speech model'),
  'transcription.threads': z.number().int().min(1).max(16).default(2).describe('Threads of the recognizer: each reads one turn'),
  'transcription.chunk_seconds': z.number().min(1).max(10).default(10).describe('Longest stretch of audio read at once, seconds'),
  'transcription.max_turn_seconds': z.number().min(5).max(30).default(20).describe('A longer turn is cut at its quietest point, seconds'),
  'transcription.pause_seconds': z.number().min(0.2).max(2).default(0.5).describe('Silence that ends a turn, seconds'),
  'transcription.idle_unload_seconds': z
    .number()
    .min(1)
    .max(86400)
    .default(120)
    .describe('The recognizer is unloaded after this long without work, seconds'),
  'disk.low_mb': z.number().min(0).default(2048).describe('Free space below this raises a warning, MiB'),
  'disk.stop_mb': z.number().min(0).default(128).describe('Free space below this stops the recording, MiB'),
  'mcp.enabled': z.boolean().default(false).describe('Serve AI hosts on mcp.sock'),
  'log.level': z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Least severe level written to the log'),
});
export type Config = z.infer<typeof ConfigSchema>;
export type ConfigKey = keyof Config;
export const CONFIG_KEYS = Object.keys(ConfigSchema.shape) as ConfigKey[];

/** Name of the environment variable that sets `key`. */
export function configEnvName(key: string): string {
  return `AMBIENT_${key.replaceAll('.', '_').toUpperCase()}`;
}
