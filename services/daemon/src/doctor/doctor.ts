import type { Check, DoctorReport } from '@ambient/contract';

/** One thing that can be wrong. Never throws for what it looks for. */
export type DoctorCheck = () => Promise<Check | readonly Check[]>;

/** A check that takes longer is a failure of its own, ms. */
const CHECK_LIMIT_MS = 10_000;

/** Runs every check, in order. A check that breaks is a failure that names itself, not the end of the others. */
export async function runChecks(checks: Readonly<Record<string, DoctorCheck>>): Promise<DoctorReport> {
  const results: Check[] = [];
  for (const [id, check] of Object.entries(checks)) {
    try {
      const found = await withLimit(check());
      results.push(...(Array.isArray(found) ? found : [found as Check]));
    } catch (error) {
      results.push({
        id,
        title: id,
        status: 'failure',
        detail: `The check itself failed: ${(error as Error).message}`,
        fix: 'See `ambientctl daemon logs`.',
      });
    }
  }
  return { checks: results, healthy: results.every((check) => check.status !== 'failure') };
}

function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS / 1000} s`)), CHECK_LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
