import { type ChildProcess, spawn } from 'node:child_process';

/** Devices that come or go, and a change of the defaults; not streams, which come and go with every sound. */
const DEVICE_EVENT = / on (?:server|sink|source|card)(?: |$)/m;
/** One switch is several events, ms. */
const SETTLE_MS = 150;

/** Tells at once that the sound server's devices changed, by `pactl subscribe`. Without a server it tells nothing. */
export class PulseEvents {
  readonly #onChange: () => void;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Starts to listen, or does so again when the server had gone away. */
  start(): void {
    if (this.#child !== undefined) return;
    const child = spawn('pactl', ['subscribe'], { env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    child.once('error', () => this.#gone(child));
    child.once('close', () => this.#gone(child));
    child.stdout.on('data', (chunk: Buffer) => {
      if (!DEVICE_EVENT.test(chunk.toString('latin1'))) return;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#onChange();
      }, SETTLE_MS);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const child = this.#child;
    this.#child = undefined;
    child?.stdout?.removeAllListeners('data');
    child?.kill('SIGKILL');
  }

  #gone(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined;
  }
}
