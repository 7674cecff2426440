import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'plist';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runner } from '../../packages/cli/src/service/exec.js';
import { serviceHost } from '../../packages/cli/src/service/host.js';
import { TrayAutostart } from '../../packages/cli/src/service/tray/autostart.js';
import { runHere } from '../cli/support/ambientctl.js';
import { StandIns } from '../service/stand-ins.js';
import { requireTools } from '../support/require-tool.js';

const PROGRAMS = { node: '/opt/no de/node', tray: '/opt/ambient/bin/ambient-tray.js', ambientctl: '/opt/ambient/bin/ambientctl.js' };
const TARGET = 'gui/501/io.ambient.tray';

const VALIDATE = requireTools(['desktop-file-validate']);

let dir: string;
let standIns: StandIns;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'auto-'));
  standIns = new StandIns(dir);
  await standIns.add('launchctl', 'defaults');
});
afterEach(() => rm(dir, { recursive: true }));

function autostart(platform: string, ambientHome = path.join(dir, 'data')): TrayAutostart {
  const env = { HOME: dir, AMBIENT_HOME: ambientHome, PATH: standIns.path };
  const host = serviceHost({ platform, env, uid: 501, execPath: '/usr/bin/node' });
  return new TrayAutostart(host, runner(env), { programs: PROGRAMS, sleep: async () => {} });
}

describe('the tray at login on Linux', () => {
  const file = (): string => path.join(dir, '.config/autostart/ambient-tray.desktop');

  it('is a valid autostart entry, written once', async () => {
    const home = '/data/a "b" 100% $x \\y `z`';
    expect(await autostart('linux', home).install()).toEqual({ changed: true, files: [file()], not_shown: 'no_display' });
    expect(await readFile(file(), 'utf8')).toBe(`[Desktop Entry]
Type=Application
Name=Ambient
Comment=Shows what Ambient records
Exec=env "AMBIENT_HOME=/data/a \\\\"b\\\\" 100%% \\\\$x \\\\\\\\y \\\\\`z\\\\\`" "/opt/no de/node" /opt/ambient/bin/ambient-tray.js --ambientctl /opt/ambient/bin/ambientctl.js
Terminal=false
X-GNOME-Autostart-enabled=true
`);
    if (VALIDATE) expect(execFileSync('desktop-file-validate', [file()], { encoding: 'utf8' })).toBe('');
    expect((await autostart('linux', home).install()).changed).toBe(false);
  });

  it('says without a display that it is shown at the next login, not now', async () => {
    const say = async (): Promise<string> => (await runHere(path.join(dir, 'data'), ['tray', 'install'], { env: { HOME: dir } })).stdout;
    expect(await say()).toMatch(/will be shown at the next login .*not now, because there is no display/s);
    expect(await say()).toMatch(/up to date\. It is shown at the next login; not now/);
  });

  it('is removed, and removing it again does nothing', async () => {
    await autostart('linux').install();
    expect(await autostart('linux').uninstall()).toEqual({ changed: true, files: [file()] });
    await expect(stat(file())).rejects.toThrow('ENOENT');
    expect(await autostart('linux').uninstall()).toEqual({ changed: false, files: [] });
  });
});

describe('the tray at login on macOS', () => {
  const file = (): string => path.join(dir, 'Library/LaunchAgents/io.ambient.tray.plist');
  const calls = async (): Promise<string[]> => (await standIns.calls()).map((call) => call.join(' '));

  it('is a launch agent, loaded at once and ended with its removal', async () => {
    await standIns.always('launchctl', 'print', {
      run: `[ -e '${dir}/loaded' ] || exit 113`,
      stdout: `${TARGET} = {\n\tstate = running\n\tpid = 1\n}\n`,
    });
    await standIns.always('launchctl', 'bootstrap', { run: `touch '${dir}/loaded'` });
    await standIns.always('launchctl', 'bootout', { run: `rm '${dir}/loaded'` });
    expect(await autostart('darwin').install()).toEqual({ changed: true, files: [file()] });
    expect(await calls()).toEqual([
      `launchctl print ${TARGET}`,
      `launchctl enable ${TARGET}`,
      `launchctl bootstrap gui/501 ${file()}`,
      `launchctl print ${TARGET}`,
    ]);
    expect(parse(await readFile(file(), 'utf8'))).toEqual({
      Label: 'io.ambient.tray',
      ProgramArguments: [PROGRAMS.node, PROGRAMS.tray, '--ambientctl', PROGRAMS.ambientctl],
      EnvironmentVariables: { AMBIENT_HOME: path.join(dir, 'data'), PATH: expect.stringContaining(standIns.bin) },
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 60,
      ProcessType: 'Interactive',
      StandardOutPath: path.join(dir, 'data/logs/tray.log'),
      StandardErrorPath: path.join(dir, 'data/logs/tray.log'),
      WorkingDirectory: '/',
    });
    expect((await autostart('darwin').install()).changed).toBe(false);
    await calls();
    expect((await autostart('darwin').uninstall()).changed).toBe(true);
    expect((await calls()).slice(0, 3)).toEqual([`launchctl print ${TARGET}`, `launchctl bootout ${TARGET}`, `launchctl print ${TARGET}`]);
  });

  it('can be a plugin of SwiftBar or xbar', async () => {
    await standIns.always('launchctl', 'print', { code: 113 });
    await expect(autostart('darwin').installPlugin()).rejects.toMatchObject({
      code: 'missing_tool',
      hint: expect.stringContaining('swiftbar'),
    });
    const folder = path.join(dir, "My Plug'ins");
    await mkdir(folder);
    await standIns.always('defaults', 'read', { stdout: `${folder}\n` });
    const plugin = path.join(folder, 'ambient.5s.sh');
    expect(await autostart('darwin', "/data/it's").installPlugin()).toEqual({ changed: true, files: [plugin] });
    expect((await stat(plugin)).mode & 0o777).toBe(0o755);
    execFileSync('sh', ['-n', plugin]);
    const text = await readFile(plugin, 'utf8');
    expect(text).toContain("AMBIENT_HOME='/data/it'\\''s'\n");
    expect(text).toContain(`exec '${PROGRAMS.node}' '${PROGRAMS.tray}' '--swiftbar' '--ambientctl' '${PROGRAMS.ambientctl}'\n`);
    expect((await autostart('darwin').uninstall()).files).toEqual([plugin]);
  });

  it('prints a menu when the plugin is run for real', async () => {
    const folder = path.join(dir, 'Library/Application Support/xbar/plugins');
    await mkdir(folder, { recursive: true });
    const env = { HOME: dir, AMBIENT_HOME: path.join(dir, 'data'), PATH: standIns.path };
    const real = new TrayAutostart(serviceHost({ platform: 'darwin', env, uid: 501 }), runner(env), {});
    const { files } = await real.installPlugin();
    const { stdout } = await promisify(execFile)(files[0] ?? '', [], { env });
    expect(stdout).toMatch(/^\| templateImage=iVBOR\S+ tooltip="Ambient: The daemon is not running"\n---\nThe daemon is not running\n/);
    expect(stdout).toContain('Start Ambient | bash=');
  });
});
