import { execFile } from 'node:child_process';

/** A notification that takes longer than this is given up, ms. */
const SEND_TIMEOUT_MS = 5_000;

export interface NotifyOptions {
  /** Called once for the first message that could not be delivered; later failures are the same one. */
  readonly onError?: (error: Error) => void;
}

/**
 * Speaks systemd's notification protocol (sd_notify(3)): readiness, status, watchdog pings, stopping.
 * Node has no Unix datagram sockets, so messages go through `systemd-notify`, which is on every machine that sets
 * NOTIFY_SOCKET; the unit therefore has `NotifyAccess=all`. Without NOTIFY_SOCKET every call does nothing.
 */
export class ServiceNotifier {
  readonly #socket: string | undefined;
  readonly #watchdogMs: number | undefined;
  readonly #onError: ((error: Error) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #queue: Promise<void> = Promise.resolve();
  #pinging = false;
  #failed = false;

  constructor(socket: string | undefined, watchdogMs: number | undefined, options: NotifyOptions = {}) {
    this.#socket = socket;
    this.#watchdogMs = watchdogMs;
    this.#onError = options.onError;
  }

  /** Takes the protocol's variables out of `env`, so that no child process can speak for the daemon. */
  static take(env: NodeJS.ProcessEnv, options: NotifyOptions = {}): ServiceNotifier {
    const socket = env.NOTIFY_SOCKET;
    const usec = Number(env.WATCHDOG_USEC);
    const forUs = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(process.pid);
    delete env.NOTIFY_SOCKET;
    delete env.WATCHDOG_USEC;
    delete env.WATCHDOG_PID;
    return new ServiceNotifier(socket === '' ? undefined : socket, forUs && usec > 0 ? usec / 1000 : undefined, options);
  }

  /** True when a service manager listens. */
  get active(): boolean {
    return this.#socket !== undefined;
  }

  /** Says that the daemon is ready and begins the watchdog pings. */
  async start(status?: string): Promise<void> {
    if (!this.active) return;
    await this.#send(['READY=1', ...statusLine(status)]);
    if (this.#watchdogMs === undefined || this.#timer !== undefined) return;
    // A third of the limit: one lost ping on a busy machine is not a hang.
    this.#timer = setInterval(() => this.#ping(), this.#watchdogMs / 3);
    this.#timer.unref();
  }

  /** One line for `systemctl status`. */
  status(text: string): Promise<void> {
    return this.#send(statusLine(text));
  }

  /** Says that the daemon is about to end. The pings go on, because a hang while stopping is a hang too; `stop` ends them. */
  stopping(status?: string): Promise<void> {
    return this.#send(['STOPPING=1', ...statusLine(status)]);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#queue;
  }

  #ping(): void {
    if (this.#pinging) return;
    this.#pinging = true;
    void this.#send(['WATCHDOG=1']).then(() => {
      this.#pinging = false;
    });
  }

  /** In order: a READY that overtook a STOPPING would undo it. Never rejects. */
  #send(assignments: readonly string[]): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.resolve();
    this.#queue = this.#queue.then(() => this.#run(socket, assignments));
    return this.#queue;
  }

  #run(socket: string, assignments: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      execFile(
        'systemd-notify',
        [...assignments],
        { env: { PATH: process.env.PATH ?? '/usr/bin:/bin', NOTIFY_SOCKET: socket }, timeout: SEND_TIMEOUT_MS },
        (error) => {
          if (error !== null && !this.#failed) {
            this.#failed = true;
            this.#onError?.(error);
          }
          resolve();
        },
      );
    });
  }
}

function statusLine(text: string | undefined): string[] {
  return text === undefined ? [] : [`STATUS=${text.replace(/\s+/g, ' ')}`];
}
