import { z } from 'zod';

/** A destructive call of an `enabled` client that waits for the user. */
export const Approval = z.object({
  id: z.string(),
  client: z.string(),
  tool: z.string(),
  /** What would be done, in words for the user. */
  summary: z.string(),
  session: z.string().nullable(),
  created_at: z.string(),
  /** Counts as denied from this moment on. */
  expires_at: z.string(),
  state: z.enum(['pending', 'approved', 'denied', 'expired']),
});
export type Approval = z.infer<typeof Approval>;
