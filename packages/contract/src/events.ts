import { z } from 'zod';
import { Approval } from './approvals.js';
import { CoverageGap, Line, SessionSummary, Warning } from './session.js';
import { DaemonStatus, ImportStatus, Levels } from './status.js';

/** What `/v1/events` sends, one JSON object a message. The first is always `status`. */
export const DaemonEvent = z.discriminatedUnion('type', [
  /** Sent on connect and whenever the daemon's state changes. */
  z.object({ type: z.literal('status'), status: DaemonStatus }),
  /** Four times a second while recording. */
  z.object({ type: z.literal('levels'), session: z.string(), elapsed_ms: z.number(), levels: Levels }),
  /** A line was published; `index` counts from 0, so `index + 1` is the next cursor. `bleed`: left out of folded views. */
  z.object({ type: z.literal('line'), session: z.string(), index: z.number().int(), line: Line, bleed: z.boolean().optional() }),
  /** A session came, changed or went (`removed`). */
  z.object({ type: z.literal('session'), session: SessionSummary }),
  z.object({ type: z.literal('removed'), session: z.string() }),
  /** Text was struck: forget these lines (indices from 0). */
  z.object({ type: z.literal('struck'), session: z.string(), lines: z.array(z.number().int()) }),
  z.object({ type: z.literal('warning'), session: z.string().nullable(), warning: Warning }),
  z.object({ type: z.literal('coverage'), session: z.string(), gap: CoverageGap }),
  z.object({ type: z.literal('import'), import: ImportStatus }),
  z.object({ type: z.literal('approval'), approval: Approval }),
]);
export type DaemonEvent = z.infer<typeof DaemonEvent>;
export type DaemonEventType = DaemonEvent['type'];
