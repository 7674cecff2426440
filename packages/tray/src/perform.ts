import { spawn } from 'node:child_process';
import type { AmbientClient } from '@ambient/client';
import { AmbientError } from '@ambient/contract';
import type { Action } from './menu.js';

export interface PerformOptions {
  readonly client: AmbientClient;
  readonly platform: string;
  /** Command line that starts the daemon, when known. */
  readonly startDaemon: readonly string[] | null;
}

/** Ending a recording waits for its last samples, ms. */
const STOP_TIMEOUT_MS = 60_000;

/** Does what a click asks of the daemon or the desktop. @throws AmbientError */
export async function perform(action: Action, { client, platform, startDaemon }: PerformOptions): Promise<void> {
  switch (action.kind) {
    case 'start':
      await client.call('start', { body: { mic: true, system: true, pace: 'real' } });
      return;
    case 'stop':
      await client.call('stop', { body: {} }, { timeoutMs: STOP_TIMEOUT_MS });
      return;
    case 'pause':
    case 'resume':
      await client.call(action.kind, { body: {} });
      return;
    case 'mute':
      await client.call('mute', { body: { track: action.track, muted: action.muted } });
      return;
    case 'decide':
      await client.call('decide', { params: { id: action.approval }, body: { decision: action.decision } });
      return;
    case 'open':
      await launch([platform === 'darwin' ? 'open' : 'xdg-open', action.path]);
      return;
    case 'start_daemon':
      if (startDaemon !== null) await launch(startDaemon);
      return;
    case 'acknowledge':
    case 'quit':
      return;
  }
}

/** Starts a program and waits for its exit. @throws AmbientError `missing_tool`, or `unavailable` with what it said */
function launch([command = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000);
    });
    child.once('error', (cause) => {
      const install = command === 'xdg-open' ? 'Install the package xdg-utils.' : 'Install Ambient again.';
      reject(new AmbientError('missing_tool', `${command} could not be started.`, install, { cause }));
    });
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new AmbientError('unavailable', said.trim().split('\n').pop() || `${command} failed (exit code ${code}).`));
    });
  });
}
