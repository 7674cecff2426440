import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const LISTENER = `
import socket, sys, json
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(json.dumps(s.recv(4096).decode()), flush=True)
`;

/** A socket where systemd's would be, and what is said on it. */
export class NotifyListener {
  readonly path: string;
  /** Assignments, in order of arrival; barriers left out. */
  readonly said: string[] = [];
  #child: ChildProcess | undefined;

  constructor(path: string) {
    this.path = path;
  }

  async start(): Promise<void> {
    const child = spawn('python3', ['-c', LISTENER, this.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const bound = once(lines, 'line');
    lines.on('line', (line) => {
      if (line === 'bound') return;
      const message = String(JSON.parse(line));
      if (message !== 'BARRIER=1') this.said.push(...message.split('\n'));
    });
    await bound;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  }
}
