import { z } from 'zod';

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

export const DoctorReport = z.object({ checks: z.array(Check), healthy: z.boolean() });
export type DoctorReport = z.infer<typeof DoctorReport>;
