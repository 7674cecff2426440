import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireTools } from '../../../../test/support/require-tool.js';
import { ServiceNotifier } from './sd-notify.js';

const LISTENER = `
import socket, sys, json
address = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\\0" + address[1:] if address[0] == "@" else address)
print("bound", flush=True)
while True:
    print(json.dumps(s.recv(4096).decode()), flush=True)
`;

let dir: string;
let listener: ChildProcess | undefined;

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'sdn-'));
});

afterEach(async () => {
  if (listener !== undefined) {
    const gone = once(listener, 'exit');
    listener.kill();
    await gone;
  }
  listener = undefined;
  await rm(dir, { recursive: true });
});

/** A stand-in for the service manager's end of the socket. @returns a function that gives the next `count` messages. */
async function listen(address: string): Promise<(count: number) => Promise<string[]>> {
  const child = spawn('python3', ['-c', LISTENER, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  listener = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('bound');
  return async (count) => {
    const messages: string[] = [];
    while (messages.length < count) {
      const message: unknown = JSON.parse(String((await lines.next()).value));
      // systemd-notify ends each run with a barrier, so that it outlives the message it sent.
      if (typeof message === 'string' && message !== 'BARRIER=1') messages.push(message);
    }
    return messages;
  };
}

describe.skipIf(!requireTools(['systemd-notify', 'python3']))('ServiceNotifier', () => {
  it.each(['path', 'abstract'])('delivers readiness, status and stopping in order to a socket given by %s', async (kind) => {
    const address = kind === 'path' ? path.join(dir, 'n') : `@ambient-${path.basename(dir)}`;
    const next = await listen(address);
    const env: NodeJS.ProcessEnv = { NOTIFY_SOCKET: address, OTHER: 'kept' };
    const notifier = ServiceNotifier.take(env);
    expect(env).toEqual({ OTHER: 'kept' });
    expect(notifier.active).toBe(true);
    await notifier.start('Idle.');
    void notifier.status('Recording\n2026');
    await notifier.stopping();
    await notifier.stop();
    expect(await next(3)).toEqual(['READY=1\nSTATUS=Idle.', 'STATUS=Recording 2026', 'STOPPING=1']);
  });

  it('pings the watchdog until it is stopped', async () => {
    const address = path.join(dir, 'n');
    const next = await listen(address);
    const notifier = ServiceNotifier.take({ NOTIFY_SOCKET: address, WATCHDOG_USEC: '150000', WATCHDOG_PID: String(process.pid) });
    await notifier.start();
    expect(await next(4)).toEqual(['READY=1', 'WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']);
    await notifier.stop();
  });

  it('leaves a watchdog meant for another process alone', async () => {
    const address = path.join(dir, 'n');
    const next = await listen(address);
    const notifier = ServiceNotifier.take({ NOTIFY_SOCKET: address, WATCHDOG_USEC: '3000', WATCHDOG_PID: '1' });
    await notifier.start();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await notifier.stopping();
    await notifier.stop();
    expect(await next(2)).toEqual(['READY=1', 'STOPPING=1']);
  });

  it('does nothing when no service manager listens', async () => {
    const notifier = ServiceNotifier.take({});
    expect(notifier.active).toBe(false);
    await notifier.start();
    await notifier.stopping();
    await notifier.stop();
  });

  it('reports a socket that is gone once, and never throws', async () => {
    const errors: Error[] = [];
    const notifier = ServiceNotifier.take({ NOTIFY_SOCKET: path.join(dir, 'gone') }, { onError: (error) => errors.push(error) });
    await notifier.start();
    await notifier.stopping();
    await notifier.stop();
    expect(errors).toHaveLength(1);
  });
});
