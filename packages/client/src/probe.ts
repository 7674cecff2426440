import { connect } from 'node:net';

/** True when something accepts connections on the Unix socket. Never writes, never removes. */
export function probe(socketPath: string, timeoutMs = 2000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const done = (alive: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(alive);
    };
    // A listener whose queue is full is alive: only a refusal or an absence is not.
    const timer = setTimeout(() => done(true), timeoutMs);
    socket.once('connect', () => done(true));
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EAGAIN' || error.code === 'EACCES'));
  });
}
