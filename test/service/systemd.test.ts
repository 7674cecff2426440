import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runner } from '../../packages/cli/src/service/exec.js';
import { serviceHost } from '../../packages/cli/src/service/host.js';
import type { RunningDaemon } from '../../packages/cli/src/service/running-daemon.js';
import { SystemdManager } from '../../packages/cli/src/service/systemd/manager.js';
import { parseUnit } from '../../packages/cli/src/service/systemd/unit.js';
import { requireTools } from '../support/require-tool.js';
import { StandIns } from './stand-ins.js';

const VERIFY = requireTools(['systemd-analyze']);

let dir: string;
let standIns: StandIns;
let daemon: { pid: number; recording: string | null } | null;
let asked: string[];

const fakeDaemon: RunningDaemon = {
  look: async () => daemon,
  answers: async () => true,
  stop: async () => {
    asked.push('stop');
  },
};

beforeEach(async () => {
  dir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'sd-')));
  standIns = new StandIns(dir);
  await standIns.add('systemctl');
  daemon = null;
  asked = [];
  await show({});
});

afterEach(() => rm(dir, { recursive: true }));

const unitFile = (): string => path.join(dir, 'user/.config/systemd/user/ambientd.service');
const SHOW =
  'systemctl --user show ambientd.service --property=LoadState,ActiveState,SubState,Result,MainPID,NRestarts,UnitFileState,ExecMainStatus,StatusText';

/** What `systemctl show` says from now on. */
async function show(properties: Record<string, string>): Promise<void> {
  const all = {
    LoadState: 'loaded',
    ActiveState: 'inactive',
    SubState: 'dead',
    Result: 'success',
    MainPID: '0',
    NRestarts: '0',
    UnitFileState: '',
    ExecMainStatus: '0',
    StatusText: '',
    ...properties,
  };
  const stdout = Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
  await standIns.always('systemctl', 'show', { stdout });
}

const ACTIVE = { ActiveState: 'active', SubState: 'running', MainPID: '4242', UnitFileState: 'enabled' };

function manager(overrides: { home?: string; node?: string; script?: string; config?: string } = {}): SystemdManager {
  const env = {
    HOME: path.join(dir, 'user'),
    AMBIENT_HOME: overrides.home ?? path.join(dir, 'data'),
    PATH: standIns.path,
    ...(overrides.config === undefined ? {} : { XDG_CONFIG_HOME: overrides.config }),
  };
  const { node = process.execPath, script = process.argv[1] ?? '' } = overrides;
  const host = serviceHost({ platform: 'linux', env, execPath: node, script, version: '1.2.3' });
  return new SystemdManager(host, runner(env), fakeDaemon);
}

async function calls(): Promise<string[]> {
  return (await standIns.calls()).map((call) => call.join(' '));
}

describe('the user unit', () => {
  it('is exactly this', async () => {
    await manager({ node: '/usr/bin/node', script: '/opt/ambient/bin/ambientd.js', home: '/home/u/.local/share/ambient' }).install();
    expect(await readFile(unitFile(), 'utf8')).toBe(`[Unit]
Description=Ambient recorder
After=pipewire-pulse.service pulseaudio.service
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=all
ExecStart="/usr/bin/node" "/opt/ambient/bin/ambientd.js" run
Environment="AMBIENT_HOME=/home/u/.local/share/ambient"
Environment="AMBIENT_SERVICE=systemd"
Environment="PATH=/usr/bin:${standIns.bin}:/bin:/opt/homebrew/bin:/usr/local/bin:/usr/sbin:/sbin"
Restart=on-failure
RestartSec=2
WatchdogSec=60
TimeoutStartSec=90
TimeoutStopSec=30
KillMode=mixed
OOMPolicy=continue
UMask=0077

[Install]
WantedBy=default.target
`);
  });

  it.skipIf(!VERIFY)('passes systemd-analyze verify, with paths that need quoting', async () => {
    const odd = path.join(dir, 'a b "c" 100% $HOME \\x');
    await mkdir(odd);
    const node = path.join(dir, 'n o 100% $HOME node');
    const script = path.join(odd, 'ambientd.js');
    await copyFile('/bin/sh', node);
    await chmod(node, 0o755);
    await writeFile(script, '');
    await manager({ node, script, home: path.join(odd, 'home') }).install();
    const verified = spawnSync('systemd-analyze', ['--user', 'verify', unitFile()], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir, HOME: dir },
    });
    expect(`${verified.stdout}${verified.stderr}`).toBe('');
    expect(verified.status).toBe(0);
    const { command, environment } = parseUnit(await readFile(unitFile(), 'utf8'));
    expect(command).toEqual([node, script, 'run']);
    expect(environment.AMBIENT_HOME).toBe(path.join(odd, 'home'));
    expect(await manager({ node, script, home: path.join(odd, 'home') }).installed()).toBe(true);
  });

  it('is refused for a node whose path systemd does not take', async () => {
    await expect(manager({ node: '/a "b"/node' }).install()).rejects.toMatchObject({ code: 'bad_config' });
  });

  it.skipIf(!VERIFY)('would not pass with a program that is not there: verify does look', async () => {
    await manager({ node: '/nonexistent/node' }).install();
    expect(() =>
      execFileSync('systemd-analyze', ['--user', 'verify', unitFile()], { env: { ...process.env, XDG_RUNTIME_DIR: dir }, stdio: 'pipe' }),
    ).toThrow(/not executable/);
  });

  it('goes where XDG_CONFIG_HOME says', async () => {
    await manager({ config: path.join(dir, 'config') }).install();
    expect((await stat(path.join(dir, 'config/systemd/user/ambientd.service'))).isFile()).toBe(true);
  });
});

describe('install', () => {
  it('writes, reloads, enables and starts, in this order', async () => {
    const report = await manager().install();
    expect(await calls()).toEqual([
      SHOW,
      'systemctl --user daemon-reload',
      'systemctl --user enable ambientd.service',
      'systemctl --user reset-failed ambientd.service',
      'systemctl --user start ambientd.service',
    ]);
    expect(report).toEqual({ changed: true, written: [unitFile()], notes: [] });
  });

  it('changes nothing when it is installed and runs', async () => {
    await manager().install();
    await calls();
    await show(ACTIVE);
    expect(await manager().install()).toEqual({ changed: false, written: [], notes: [] });
    expect(await calls()).toEqual([SHOW]);
  });

  it('upgrades in place: a unit with another node is rewritten and restarted', async () => {
    await manager({ node: '/old/node' }).install();
    await calls();
    await show(ACTIVE);
    expect((await manager().state()).outdated).toEqual(['The unit starts /old/node, which is no longer there.']);
    await calls();
    await manager().install();
    expect(await calls()).toEqual([
      SHOW,
      'systemctl --user daemon-reload',
      'systemctl --user enable ambientd.service',
      'systemctl --user reset-failed ambientd.service',
      'systemctl --user restart ambientd.service',
    ]);
    expect((await manager().state()).outdated).toEqual([]);
  });

  it('does not restart under a recording, and says when the service takes over', async () => {
    daemon = { pid: 7, recording: '2026-11-30T1608' };
    const { notes } = await manager().install();
    expect(notes).toEqual([expect.stringContaining('Recording 2026-11-30T1608 goes on undisturbed')]);
    expect((await calls()).some((call) => / (re)?start /.test(call))).toBe(false);
  });

  it('takes over from a daemon that was started by hand', async () => {
    daemon = { pid: 77, recording: null };
    const { notes } = await manager().install();
    expect(asked).toEqual(['stop']);
    expect(notes.join(' ')).toContain('pid 77');
  });

  it('serves one home; the other one is told apart', async () => {
    await manager().install();
    expect(await manager().installed()).toBe(true);
    expect(await manager({ home: path.join(dir, 'other') }).installed()).toBe(false);
    const { notes } = await manager({ home: path.join(dir, 'other') }).install();
    expect(notes).toEqual([`The service of ${path.join(dir, 'data')} now serves ${path.join(dir, 'other')}.`]);
  });
});

describe('uninstall', () => {
  it('disables, removes and forgets, and does nothing the second time', async () => {
    await manager().install();
    await calls();
    expect(await manager().uninstall()).toBe(true);
    expect(await calls()).toEqual([
      'systemctl --user disable --now ambientd.service',
      'systemctl --user daemon-reload',
      'systemctl --user reset-failed ambientd.service',
    ]);
    expect(await manager().uninstall()).toBe(false);
    expect(await calls()).toEqual([]);
    expect((await manager().state()).status).toBe('not_installed');
  });
});

describe('start, stop and restart', () => {
  it('clear an earlier start limit first', async () => {
    await manager().start();
    await manager().stop();
    await manager().restart();
    expect(await calls()).toEqual([
      'systemctl --user reset-failed ambientd.service',
      'systemctl --user start ambientd.service',
      'systemctl --user stop ambientd.service',
      'systemctl --user reset-failed ambientd.service',
      'systemctl --user restart ambientd.service',
    ]);
  });

  it('says of a machine without systemd that there is nothing to install, and what to run instead', async () => {
    await standIns.always('systemctl', 'show', { code: 1, stderr: 'System has not been booted with systemd as init system.\n' });
    const host = serviceHost({ platform: 'linux', env: { HOME: dir, PATH: standIns.path }, uid: 501 });
    const on = (booted: string) => new SystemdManager(host, runner({ PATH: standIns.path }), fakeDaemon, booted).install();
    await expect(on(path.join(dir, 'absent'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not run systemd'),
      hint: expect.stringMatching(/starts by itself.*env AMBIENT_HOME=\S+ \S+ \S+ambientd\.js$/),
    });
    await expect(on(dir)).rejects.toMatchObject({ message: expect.stringContaining('systemctl --user show failed') });
  });

  it.each([
    [1, 'Failed to connect to bus: No medium found', 'unavailable', /no user service manager/, /enable-linger/],
    [5, 'Failed to start ambientd.service: Unit ambientd.service not found.', 'not_found', /not installed/, /daemon install/],
    [1, 'Failed to start ambientd.service: Unit ambientd.service is masked.', 'conflict', /masked/, /unmask/],
    [4, 'Failed to start ambientd.service: Access denied', 'forbidden', /Access denied/, /user who owns/],
    [1, 'ambientd.service: Start request repeated too quickly.', 'unavailable', /five times in a row/, /daemon logs/],
    [
      1,
      'Job for ambientd.service failed because the control process exited with error code.',
      'unavailable',
      /did not start/,
      /daemon logs/,
    ],
    [1, 'Something else.', 'internal', /Something else/, /status/],
  ])('explain exit %i, %s', async (code, stderr, kind, message, hint) => {
    await standIns.always('systemctl', 'start', { code, stderr: `${stderr}\n` });
    await expect(manager().start()).rejects.toMatchObject({
      code: kind,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  it('name systemctl when it is missing', async () => {
    await rm(path.join(standIns.bin, 'systemctl'));
    const env = { HOME: dir, PATH: standIns.bin };
    const bare = new SystemdManager(serviceHost({ platform: 'linux', env, script: '/x' }), runner(env), fakeDaemon);
    await expect(bare.start()).rejects.toMatchObject({ code: 'missing_tool', message: 'systemctl was not found on PATH.' });
  });
});

describe('the state', () => {
  beforeEach(() => manager().install());

  it.each([
    [{ ...ACTIVE, StatusText: 'Recording.' }, 'running', /^Recording\.$/],
    [{ ActiveState: 'activating', SubState: 'start' }, 'starting', /is starting/],
    [{ ActiveState: 'activating', SubState: 'auto-restart', ExecMainStatus: '1' }, 'starting', /code 1 .*again/],
    [
      { ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', ExecMainStatus: '1', NRestarts: '4' },
      'failed',
      /five times in a row and stays down/,
    ],
    [{ ActiveState: 'failed', SubState: 'failed', Result: 'watchdog', NRestarts: '0' }, 'failed', /watchdog/],
    [{ LoadState: 'masked' }, 'failed', /masked/],
    [{}, 'stopped', /stopped/],
  ])('of %j is %s', async (properties, status, detail) => {
    await show(properties);
    const state = await manager().state();
    expect(state).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(state.hint === undefined).toBe(status === 'running' || (status === 'starting' && !/code/.test(state.detail)));
  });

  it('does not call a changed PATH outdated', async () => {
    const text = await readFile(unitFile(), 'utf8');
    await writeFile(unitFile(), text.replace(/PATH=[^"]*/, 'PATH=/elsewhere'));
    expect((await manager().state()).outdated).toEqual([]);
    await writeFile(unitFile(), text.replace('WatchdogSec=60', 'WatchdogSec=5'));
    expect((await manager().state()).outdated).toEqual(['The unit is of another version.']);
  });
});
