import { AmbientError } from '@ambient/contract';
import type { Logger } from '../platform/logger.js';
import type { AuditLog } from './audit.js';

/** At `stop`, work that runs gets this long to end, ms. */
const STOP_MS = 5_000;

/** Work that changes something. Once begun it goes on to its end, whoever has hung up meanwhile. */
export class Operations {
  readonly #audit: AuditLog;
  readonly #logger: Logger;
  readonly #running = new Set<Promise<unknown>>();

  constructor(audit: AuditLog, logger: Logger) {
    this.#audit = audit;
    this.#logger = logger;
  }

  /** Runs `work` between its two audit entries. When the first cannot be written, nothing is done. */
  async run<T>(tool: string, work: () => Promise<T>): Promise<T> {
    const running = this.#run(tool, work);
    const settled = running.catch(() => undefined);
    this.#running.add(settled);
    void settled.finally(() => this.#running.delete(settled));
    return running;
  }

  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS);
    });
    await Promise.race([Promise.all(this.#running), late]);
    clearTimeout(timer);
  }

  async #run<T>(tool: string, work: () => Promise<T>): Promise<T> {
    const operation = await this.#audit.started(tool).catch((error: unknown) => {
      this.#logger.error({ err: error, tool }, 'mcp: audit entry not written');
      throw new AmbientError('unavailable', 'The audit log cannot be written, so nothing was done.', 'See `ambientctl daemon logs`.');
    });
    let outcome: 'succeeded' | 'failed' = 'failed';
    try {
      const result = await work();
      outcome = 'succeeded';
      return result;
    } finally {
      await this.#audit.finished(operation, tool, outcome).catch((error: unknown) => {
        // The lone `started` says "outcome unknown", which is true for whoever reads the log.
        this.#logger.error({ err: error, tool }, 'mcp: audit entry not written');
      });
    }
  }
}
