import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Child processes of a test, ended in reverse order. */
export class Processes {
  readonly #children: { name: string; child: ChildProcess }[] = [];

  start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    const child = spawn(command, [...args], options);
    child.once('error', (error) => {
      throw error;
    });
    this.#children.push({ name: command, child });
    return child;
  }

  async stopAll(): Promise<void> {
    for (const { child } of this.#children.splice(0).reverse()) await stopChild(child);
  }
}

/** SIGTERM, then SIGKILL after five seconds. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(timer);
}

/** Asks `look` until it gives something other than undefined or false. @throws Error naming `what` after `timeoutMs` */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
