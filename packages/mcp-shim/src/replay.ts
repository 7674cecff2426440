import { isObject } from './message.js';

interface Handshake {
  /** The host's own `initialize`, as a value. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly protocolVersion: unknown;
}

/**
 * What a new connection has to be told to stand where the old one stood. Only the handshake era needs it: from 2026-07-28
 * on every request carries its own metadata.
 */
export class Replay {
  #handshake: Handshake | undefined;
  #isInitialized = false;
  readonly #subscriptions = new Set<string>();

  /** The `initialize` to send again under another id, or undefined when the host never completed one. */
  handshake(id: string): string | undefined {
    return this.#handshake && JSON.stringify({ ...this.#handshake.request, id });
  }

  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  get protocolVersion(): unknown {
    return this.#handshake?.protocolVersion;
  }

  /** Resources the host follows. */
  get subscriptions(): readonly string[] {
    return [...this.#subscriptions];
  }

  /** The host said `notifications/initialized`. */
  initialized(): void {
    this.#isInitialized = true;
  }

  /** A request of the host was answered without an error. */
  answered(method: string, line: string, result: unknown): void {
    if (method !== 'initialize' && method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return;
    const request: unknown = JSON.parse(line);
    if (!isObject(request)) return;
    if (method === 'initialize') {
      // A second `initialize` that a server lets pass starts a session anew.
      this.#handshake = { request, protocolVersion: isObject(result) ? result.protocolVersion : undefined };
      this.#subscriptions.clear();
      return;
    }
    const uri = isObject(request.params) ? request.params.uri : undefined;
    if (typeof uri !== 'string') return;
    if (method === 'resources/subscribe') this.#subscriptions.add(uri);
    else this.#subscriptions.delete(uri);
  }
}
