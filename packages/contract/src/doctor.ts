import { z } from 'zod';
import { Track } from './tracks.js';

/** One check of `ambientctl doctor`. */
export const Check = z.object({
  /** Stable machine name, e.g. `disk`, `model`, `recorder.room`. */
  id: z.string(),
  title: z.string(),
  status: z.enum(['ok', 'warning', 'failure']),
  detail: z.string(),
  /** The next step; present unless ok. */
  fix: z.string().optional(),
});
export type Check = z.infer<typeof Check>;

/** What only the daemon's own process can tell of itself, for causes that a client has to look into. */
export const DoctorFacts = z.object({
  /** The daemon's executable. */
  executable: z.string(),
  /** Bundle identifier that macOS gave the daemon (`__CFBundleIdentifier`), or null. */
  launched_as: z.string().nullable(),
  /** IANA name, or null when the system names none that exists. */
  timezone: z.string().nullable(),
  utc_offset_min: z.number(),
  /** Tracks whose test capture held nothing but zeros, although there should be sound or may be. */
  silent: z.array(Track),
});
export type DoctorFacts = z.infer<typeof DoctorFacts>;

export const DoctorReport = z.object({
  checks: z.array(Check),
  /** No check failed. */
  healthy: z.boolean(),
  facts: DoctorFacts.optional(),
});
export type DoctorReport = z.infer<typeof DoctorReport>;

/** Makes the results of checks. */
export const check = {
  ok: (id: string, title: string, detail: string): Check => ({ id, title, status: 'ok', detail }),
  /** Something that works for now, or may be meant so. */
  warning: (id: string, title: string, detail: string, fix: string): Check => ({ id, title, status: 'warning', detail, fix }),
  /** Something that does not work, or puts data at risk. */
  failure: (id: string, title: string, detail: string, fix: string): Check => ({ id, title, status: 'failure', detail, fix }),
} as const;
