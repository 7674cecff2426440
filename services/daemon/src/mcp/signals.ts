/**
 * A signal that aborts with either of two. `dispose` lets go of both: one of them lives as long as a connection, and
 * would otherwise collect a listener for every call made on it.
 */
export function eitherSignal(a: AbortSignal, b: AbortSignal): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (a.aborted || b.aborted) abort();
  a.addEventListener('abort', abort, { once: true });
  b.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    dispose: () => {
      a.removeEventListener('abort', abort);
      b.removeEventListener('abort', abort);
    },
  };
}
