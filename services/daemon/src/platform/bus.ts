import type { DaemonEvent } from '@ambient/contract';

type Listener = (event: DaemonEvent) => void;

/** Carries the daemon's events to whoever listens. A listener that throws is reported and never stops the others. */
export class Bus {
  readonly #listeners = new Map<Listener, unknown>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  emit(event: DaemonEvent): void {
    for (const listener of [...this.#listeners.keys()]) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** @returns a function that removes the listener. */
  on(owner: unknown, listener: Listener): () => void {
    this.#listeners.set(listener, owner);
    return () => this.#listeners.delete(listener);
  }

  /** Removes every listener of `owner`. */
  off(owner: unknown): void {
    for (const [listener, o] of this.#listeners) if (o === owner) this.#listeners.delete(listener);
  }
}
