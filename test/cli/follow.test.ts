import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { AmbientClient, type FollowEvent, follow } from '@ambient/client';
import type { SessionState, VerboseLine } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ended, runHere, startAmbientctl, temporaryHome } from './support/ambientctl.js';
import { FakeDaemon, IDLE } from './support/fake-daemon.js';
import { ID, LIVE, line, sessionFile, summary, verbose } from './support/samples.js';

let daemon: FakeDaemon;
let home: string;
let remove: () => void;
let lines: VerboseLine[];
let state: SessionState;
const started: ChildProcessWithoutNullStreams[] = [];

beforeEach(async () => {
  ({ home, remove } = temporaryHome());
  lines = [];
  state = 'live';
  daemon = new FakeDaemon(home, {
    session: () => ({ summary: summary({ state, live: state === 'live' }), file: sessionFile(), lines: lines.length, bleed: 0 }),
    lines: () => ({ session: ID, lines: [...lines] }),
    start: () => ({ id: ID, name: null, dir: '/d', started_at: 'x', tracks: ['room'], already_running: false, warnings: [] }),
  });
  daemon.status = { ...IDLE, live: LIVE };
  await daemon.start();
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await daemon.stop();
  remove();
});

function publish(text: string, { emit = true, ...change }: Partial<VerboseLine> & { emit?: boolean } = {}): void {
  lines.push(verbose(lines.length + 1, text, change));
  if (emit) daemon.emit({ type: 'line', session: ID, index: lines.length - 1, line: line(text) });
}

function finish(as: SessionState = 'done'): void {
  state = as;
  daemon.emit({ type: 'session', session: summary({ state: as }) });
}

/** Follows, calling `on` with each event as it comes. @returns the texts, in order */
async function texts(on: (event: FollowEvent) => void | Promise<void>): Promise<string[]> {
  const found: string[] = [];
  for await (const event of follow(new AmbientClient(daemon.paths.controlSocket), 'live', { retryMs: 20 })) {
    if (event.type === 'line') found.push(`${event.index}:${event.line.text}`);
    await on(event);
  }
  return found;
}

describe('following a session', () => {
  it('misses nothing that is published while the backlog is read, and repeats nothing', async () => {
    publish('one');
    const handlers = daemon.handlers;
    daemon.handlers = {
      ...handlers,
      lines: () => {
        daemon.handlers = handlers;
        const before = [...lines];
        // Published after the reading was made and before it arrives.
        publish('two');
        publish('three');
        return { session: ID, lines: before };
      },
    };
    const found = await texts((event) => {
      if (event.type === 'line' && event.index === 2) finish();
    });
    expect(found).toEqual(['0:one', '1:two', '2:three']);
  });

  it('drops the event of a line that the backlog held', async () => {
    publish('one');
    const found = await texts((event) => {
      if (event.type !== 'line' || event.index > 0) return;
      daemon.emit({ type: 'line', session: ID, index: 0, line: line('one') });
      publish('two');
      finish();
    });
    expect(found).toEqual(['0:one', '1:two']);
  });

  it('reads again where an event was lost', async () => {
    publish('one');
    const found = await texts((event) => {
      if (event.type === 'line' && event.index === 0) {
        publish('two', { emit: false });
        publish('three');
      }
      if (event.type === 'line' && event.index === 2) {
        publish('four', { emit: false });
        finish();
      }
    });
    expect(found).toEqual(['0:one', '1:two', '2:three', '3:four']);
  });

  it('goes on across a restart of the daemon with neither gap nor repeat, as often as it restarts', async () => {
    publish('one');
    let restarts = 0;
    const found = await texts(async (event) => {
      if (event.type === 'line' && event.index < 2) await daemon.stop();
      if (event.type === 'line' && event.index === 2) finish('interrupted');
      if (event.type !== 'disconnected') return;
      restarts += 1;
      publish(`line ${restarts}`, { emit: false });
      await daemon.start();
    });
    expect(found).toEqual(['0:one', '1:line 1', '2:line 2']);
    expect(restarts).toBe(2);
  });

  it('counts struck lines and does not show them', async () => {
    publish('one');
    publish('', { struck: true });
    publish('three');
    state = 'done';
    expect(await texts(() => undefined)).toEqual(['0:one', '2:three']);
  });

  it('gives up on a daemon that does not come back', async () => {
    const patient = follow(new AmbientClient(daemon.paths.controlSocket), 'live', { retryMs: 10, patienceMs: 50 });
    await patient.next();
    await daemon.stop();
    await expect(
      (async () => {
        for await (const _ of patient);
      })(),
    ).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('ambientctl follow', () => {
  it('prints time, track and speaker, leaves bleed out, and ends with the session', async () => {
    publish('Hello.', { start_ms: 3_723_000 });
    publish('Hello', { bleed: true });
    publish('Hi.', { start_ms: 4000, track: 'call', speaker: 'Priya' });
    state = 'done';
    const { code, stdout, stderr } = await runHere(home, ['follow']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('1:02:03  room  Hello.\n00:04  call  Priya: Hi.\n');
  });

  it('prints one JSON object a line with --json', async () => {
    publish('Hello.');
    publish('Hi.');
    state = 'done';
    const { stdout } = await runHere(home, ['follow', '--json']);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((text) => (JSON.parse(text) as { segment: number }).segment),
    ).toEqual([1, 2]);
  });
});

describe('ambientctl start --follow', () => {
  it('stops following on Ctrl-C, leaves the recording running and says how to stop it', async () => {
    publish('Hello.');
    const child = startAmbientctl(home, ['start', '--follow']);
    started.push(child);
    const end = ended(child);
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { code, stdout, stderr } = await end;
    expect(code).toBe(0);
    expect(stdout).toContain('Hello.');
    expect(stderr).toContain('ambientctl stop');
    expect(daemon.calls.map(({ name }) => name)).not.toContain('stop');
  });

  it('ends by itself when the transcript is complete, with all lines in one value with --json', async () => {
    publish('Hello.');
    state = 'done';
    const { code, stdout } = await runHere(home, ['start', '--follow', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: ID, state: 'done', lines: [{ text: 'Hello.' }] });
  });
});
