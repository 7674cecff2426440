import { z } from 'zod';

/** Samples per second of every stored track, in Hz. */
export const SAMPLE_RATE = 16_000;
/** Samples per millisecond of every stored track. */
export const SAMPLES_PER_MS = SAMPLE_RATE / 1000;

/** `room` is the microphone; `call` is what the computer plays. */
export const Track = z.enum(['room', 'call']);
export type Track = z.infer<typeof Track>;
export const TRACKS = Track.options;
