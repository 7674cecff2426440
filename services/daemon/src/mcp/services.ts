import type { DaemonStatus } from '@ambient/contract';
import type { Recorder } from '../capture/types.js';
import type { Library } from '../library/types.js';
import type { Clock } from '../platform/clock.js';
import type { Logger } from '../platform/logger.js';
import type { SessionStore } from '../sessions/types.js';
import type { Approvals } from './approvals.js';
import type { AuditLog } from './audit.js';
import type { CallLog } from './call-log.js';
import type { Changes } from './changes.js';
import type { RateLimits } from './limits.js';
import type { Operations } from './operations.js';

/** What every connection's server works with. */
export interface McpServices {
  readonly version: string;
  readonly store: SessionStore;
  readonly library: Library;
  readonly recorder: Recorder;
  readonly status: () => Promise<DaemonStatus>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly changes: Changes;
  readonly limits: RateLimits;
  readonly approvals: Approvals;
  readonly audit: AuditLog;
  readonly operations: Operations;
  readonly calls: CallLog;
}
