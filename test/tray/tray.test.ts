import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Approval, type DaemonStatus, homePaths } from '@ambient/contract';
import { doneSummary } from '@ambient/contract/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runner } from '../../packages/cli/src/service/exec.js';
import { serviceHost } from '../../packages/cli/src/service/host.js';
import { runningDaemon } from '../../packages/cli/src/service/running-daemon.js';
import { TrayAutostart } from '../../packages/cli/src/service/tray/autostart.js';
import { FakeDaemon, IDLE } from '../cli/support/fake-daemon.js';
import { requireTools } from '../support/require-tool.js';
import { Desktop } from './support/desktop.js';
import { Processes, stopChild, until } from './support/processes.js';
import { TrayMenu } from './support/tray-menu.js';

const TRAY = fileURLToPath(new URL('../../packages/tray/bin/ambient-tray.js', import.meta.url));
/** As tools/icons/draw.mjs paints them for a dark panel. */
const COLOURS = {
  idle: '#e8eaed',
  recording: '#f2453d',
  transcribing: '#5aa0f8',
  warning: '#f9ab00',
  approval: '#b072f0',
  offline: '#80868b',
};
/** An icon covers some hundred pixels; edges and the panel's own drawing have a few of any colour. */
const PLENTY = 100;

const LIVE: NonNullable<DaemonStatus['live']> = {
  id: '2026-11-30T1608',
  name: 'Week_ly',
  started_at: '2026-11-30T16:08:00Z',
  elapsed_ms: 0,
  paused: false,
  muted: [],
  tracks: ['room', 'call'],
  levels: {
    room: { rms_db: -30, peak_db: -10, speech: true, muted: false },
    call: { rms_db: -120, peak_db: -120, speech: false, muted: false },
  },
  lines: 0,
};
const APPROVAL: Approval = {
  id: 'a1',
  client: 'Claude',
  tool: 'delete_session',
  summary: 'delete a session',
  session: null,
  created_at: '2026-11-30T16:07:50Z',
  expires_at: '2999-11-30T16:08:50Z',
  state: 'pending',
};

describe.skipIf(!requireTools(['Xvfb', 'dbus-daemon', 'xfce4-panel', 'import', 'gio']))('ambient-tray on a real panel', () => {
  const processes = new Processes();
  let dir: string;
  let desktop: Desktop;
  let daemon: FakeDaemon;
  let tray: ChildProcess;
  let menu: TrayMenu;

  const colour = (name: keyof typeof COLOURS): Promise<true> =>
    until(`the colour of ${name}`, async () => (await desktop.find(COLOURS[name])).pixels > PLENTY && (true as const));
  const setStatus = (changes: Partial<DaemonStatus>): void => {
    daemon.status = { ...daemon.status, ...changes };
    daemon.emit({ type: 'status', status: daemon.status });
  };
  const label = (start: string): Promise<string> => until(start, async () => (await menu.labels()).find((text) => text.startsWith(start)));
  const startTray = (): ChildProcess =>
    processes.start(process.execPath, [TRAY, '--theme', 'dark'], {
      env: { ...desktop.env, AMBIENT_HOME: path.join(dir, 'h') },
      stdio: ['ignore', 'inherit', 'inherit'],
    });

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'tray-'));
    desktop = new Desktop(dir);
    await desktop.start();
    menu = new TrayMenu(desktop.busAddress);
    daemon = new FakeDaemon(path.join(dir, 'h'), {
      approvals: () => ({ approvals: [] }),
      sessions: () => ({ sessions: [], total: 0 }),
      session: () => ({ summary: doneSummary(LIVE.id, { state: 'live', live: true, transcribed: false }), file: null, lines: 0, bleed: 0 }),
      start: () => {
        setStatus({ live: LIVE });
        return { id: LIVE.id, name: null, dir: '/x', started_at: LIVE.started_at, tracks: ['room'], already_running: false, warnings: [] };
      },
      stop: () => {
        setStatus({ live: null });
        return { id: LIVE.id, duration_s: 1, state: 'done' };
      },
      mute: () => {
        setStatus({ live: { ...LIVE, muted: ['room'] } });
        return daemon.status;
      },
      decide: () => {
        daemon.emit({ type: 'approval', approval: { ...APPROVAL, state: 'denied' } });
        return { ...APPROVAL, state: 'denied' };
      },
    });
    daemon.status = { ...IDLE, home: daemon.paths.home };
    tray = startTray();
    await until('the tray item', () => menu.owner());
  });

  afterAll(async () => {
    menu?.close();
    await processes.stopAll();
    await daemon?.stop();
    await desktop?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('shows that no daemon runs, and finds it by itself when it comes', async () => {
    await colour('offline');
    expect(await menu.labels()).toContain('The daemon is not running');
    await daemon.start();
    await label('Not recording');
    await colour('idle');
  });

  it('is one icon, though it was started before the panel was there', async () => {
    expect((await desktop.find(COLOURS.idle)).width).toBeLessThanOrEqual(48);
  });

  it('starts a recording with a click, and turns red', async () => {
    await menu.click('Start recording');
    expect(await label('Recording 0:0')).toMatch(/: Week_ly$/);
    await colour('recording');
    expect(await label('Room')).toBe('Room  ▮▮▮▮▯▯▯▯ −30 dB');
    daemon.emit({
      type: 'levels',
      session: LIVE.id,
      elapsed_ms: 3_725_000,
      levels: { room: { rms_db: -8, peak_db: -1, speech: true, muted: false } },
    });
    await label('Recording 1:02:0');
    await label('Room  ▮▮▮▮▮▮▮▯ −8 dB');
  });

  it('mutes a track with a click', async () => {
    await menu.click('Mute room');
    await label('Unmute room');
    expect(daemon.calls.at(-1)).toEqual({ name: 'mute', input: { body: { track: 'room', muted: true } } });
  });

  it('turns amber for a warning, until it is acknowledged', async () => {
    daemon.emit({
      type: 'warning',
      session: LIVE.id,
      warning: { code: 'device_lost', message: 'The microphone is gone.', hint: 'Plug it in.', at: '' },
    });
    await colour('warning');
    await menu.click('Warning: The microphone is gone.', 'Understood');
    await colour('recording');
  });

  it('turns violet while an agent waits, and denies it with a click', async () => {
    daemon.emit({ type: 'approval', approval: APPROVAL });
    await colour('approval');
    await menu.click('Claude wants to: delete a session', 'Deny');
    await colour('recording');
    expect(daemon.calls.at(-1)).toEqual({ name: 'decide', input: { params: { id: 'a1' }, body: { decision: 'deny' } } });
  });

  it('stops the recording with a click, and is blue while text is made', async () => {
    await menu.click('Stop recording');
    await label('Start recording');
    setStatus({ awaiting_transcript: 1 });
    await colour('transcribing');
    setStatus({ awaiting_transcript: 0 });
    await colour('idle');
  });

  it('says why a click failed', async () => {
    daemon.handlers = { ...daemon.handlers, start: () => Promise.reject(new Error('no microphone')) };
    await menu.click('Start recording');
    await label('Warning: Error: no microphone');
    await menu.click('Warning: Error: no microphone', 'Understood');
    await colour('idle');
  });

  it('shows one icon however often it is started', async () => {
    const env = { ...desktop.env, AMBIENT_HOME: path.join(dir, 'h') };
    const { stdout } = await promisify(execFile)(process.execPath, [TRAY], { env });
    expect(stdout).toBe('The tray icon is shown already.\n');
  });

  it('comes back by itself when the daemon is started again', async () => {
    await daemon.stop();
    await colour('offline');
    setStatus({ live: LIVE });
    await daemon.start();
    await colour('recording');
    await label('Stop recording');
  });

  it('loses nothing when it is killed: the next one shows the same', async () => {
    const owner = await menu.owner();
    tray.kill('SIGKILL');
    await once(tray, 'exit');
    // Its helper sees that it is gone and takes the icon away.
    await until('the icon to go', async () => (await menu.owner()) !== owner);
    tray = startTray();
    await colour('recording');
    await label('Stop recording');
  });

  it('quits with a click, and by SIGTERM, with exit code 0', async () => {
    await menu.click('Quit');
    const [code] = tray.exitCode === null ? await once(tray, 'exit') : [tray.exitCode];
    expect(code).toBe(0);
    await until('the icon to go', async () => (await menu.owner()) === undefined);
    tray = startTray();
    await until('the tray item', () => menu.owner());
    await stopChild(tray);
    expect(tray.exitCode).toBe(0);
  });

  it('is started by its autostart entry, whatever its home is called, and ended by `tray uninstall`', async () => {
    const home = path.join(dir, "a b 100% $x it's");
    const env = { ...desktop.env, AMBIENT_HOME: home };
    const autostart = new TrayAutostart(serviceHost({ env: { ...env, DISPLAY: '' } }), runner(env));
    const { files } = await autostart.install();
    processes.start('gio', ['launch', files[0] ?? ''], { env: desktop.env, stdio: 'ignore' });
    await until('the tray item', () => menu.owner());
    // It knows ambientctl, so it can start a real daemon; wherever that is, it holds the same home.
    await menu.click('Start Ambient');
    await label('Not recording');
    await runningDaemon(homePaths(home, process.getuid?.() ?? 0).controlSocket).stop();
    await label('Start Ambient');
    await autostart.uninstall();
    await until('the icon to go', async () => (await menu.owner()) === undefined);
  });

  it('says so where there is no desktop', async () => {
    const env = { PATH: process.env.PATH, HOME: dir, AMBIENT_HOME: path.join(dir, 'h') };
    await expect(promisify(execFile)(process.execPath, [TRAY], { env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('DISPLAY is not set'),
    });
    await expect(promisify(execFile)(process.execPath, [TRAY, '--them'], { env })).rejects.toMatchObject({ code: 2 });
  });
});
