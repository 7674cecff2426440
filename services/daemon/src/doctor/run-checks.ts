import { type Check, check } from '@ambient/contract';

/** Looks at one matter. Never throws for what it looks for. */
export type DoctorCheck = () => Promise<Check | readonly Check[]> | Check | readonly Check[];

/** A check that takes longer is a failure of its own, ms. Four recorders that hang one after the other take 10 s. */
const CHECK_LIMIT_MS = 45_000;

/** Runs all checks at once and gives their results in order. One that breaks is a failure that names itself, not the end of the others. */
export async function runChecks(checks: Readonly<Record<string, DoctorCheck>>): Promise<Check[]> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([id, look]): Promise<readonly Check[]> => {
      try {
        const result = await withLimit(Promise.resolve(look()));
        return 'id' in result ? [result] : result;
      } catch (error) {
        const detail = `The check itself failed: ${(error as Error).message}.`;
        return [check.failure(id, id, detail, 'See `ambientctl daemon logs`.')];
      }
    }),
  );
  return found.flat();
}

function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_LIMIT_MS / 1000} s`)), CHECK_LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
