/**
 * Runs `work` with a signal that Ctrl-C (or SIGTERM) aborts, in place of ending the process. A second Ctrl-C ends it.
 * @returns what `work` returned, and whether it was interrupted
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<{ value: T; interrupted: boolean }> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  try {
    const value = await work(controller.signal);
    return { value, interrupted: controller.signal.aborted };
  } finally {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  }
}
