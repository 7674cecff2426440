import type { ToolCall } from './tools/tool.js';

/** A caller that asked for progress hears this often that its call still waits, ms. */
const TELL_MS = 5_000;

/** Runs a wait of at most `totalMs` and tells the caller of it meanwhile, if it wants to know. */
export async function whileTelling<T>(call: ToolCall, totalMs: number, message: string, wait: () => Promise<T>): Promise<T> {
  const { progress } = call;
  if (progress === undefined) return wait();
  const { clock } = call.services;
  const startMs = clock.monotonicMs();
  const tell = (): void => progress((clock.monotonicMs() - startMs) / 1000, totalMs / 1000, message);
  const timer = setInterval(tell, TELL_MS);
  tell();
  try {
    return await wait();
  } finally {
    clearInterval(timer);
  }
}
