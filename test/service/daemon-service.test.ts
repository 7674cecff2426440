import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runner } from '../../packages/cli/src/service/exec.js';
import { type ServiceHost, serviceHost } from '../../packages/cli/src/service/host.js';
import { runningDaemon } from '../../packages/cli/src/service/running-daemon.js';
import { SystemdManager } from '../../packages/cli/src/service/systemd/manager.js';
import { parseUnit } from '../../packages/cli/src/service/systemd/unit.js';
import { requireTools } from '../support/require-tool.js';
import { stopChild, until } from '../tray/support/processes.js';
import { NotifyListener } from './notify-listener.js';
import { StandIns } from './stand-ins.js';

let dir: string;
let home: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'ds-'));
  home = path.join(dir, 'h');
});
afterEach(async () => {
  for (const child of children.splice(0)) await stopChild(child);
  await rm(dir, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly stderr: () => string;
}

function start(command: readonly string[], env: NodeJS.ProcessEnv): Started {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return { child, exit: once(child, 'close').then(([code]: (number | null)[]) => code ?? null), stderr: () => stderr };
}

describe.skipIf(!requireTools(['systemd-notify', 'python3']))("the unit's program", () => {
  let listener: NotifyListener;
  let unit: ReturnType<typeof parseUnit>;

  beforeEach(async () => {
    listener = new NotifyListener(path.join(dir, 'notify'));
    await listener.start();
    const standIns = new StandIns(dir);
    await standIns.add('systemctl');
    const host: ServiceHost = serviceHost({ platform: 'linux', env: { HOME: dir, AMBIENT_HOME: home, PATH: standIns.path } });
    await new SystemdManager(host, runner({ PATH: standIns.path }), runningDaemon(host.paths.controlSocket)).install();
    unit = parseUnit(await readFile(path.join(dir, '.config/systemd/user/ambientd.service'), 'utf8'));
  });
  afterEach(() => listener.stop());

  const run = (more: NodeJS.ProcessEnv = {}): Started =>
    start(unit.command, { HOME: dir, ...unit.environment, NOTIFY_SOCKET: listener.path, ...more });
  const said = (what: string): Promise<true> => until(what, () => (listener.said.includes(what) ? true : undefined));

  it('starts, says that it is ready when it answers, pings the watchdog, and says that it stops', async () => {
    const { child, exit } = run({ WATCHDOG_USEC: '300000' });
    await said('READY=1');
    expect(await new AmbientClient(homePaths(home, process.getuid?.() ?? 0).controlSocket).isAlive()).toBe(true);
    await said('WATCHDOG=1');
    child.kill('SIGTERM');
    await said('STOPPING=1');
    expect(await exit).toBe(0);
  });

  it('ends with 0 and the reason when another daemon holds the home, so that it is not started again and again', async () => {
    run();
    await said('READY=1');
    listener.said.length = 0;
    const second = run();
    expect(await second.exit).toBe(0);
    expect(second.stderr()).toMatch(/Another daemon holds .* \(pid \d+\)/);
    // Without a READY, systemd would take the end for a failure (protocol) and restart it.
    expect(listener.said.filter((text) => !text.startsWith('WATCHDOG'))).toEqual([
      'READY=1',
      expect.stringMatching(/^STATUS=Another daemon holds/),
      'STOPPING=1',
      expect.stringMatching(/^STATUS=/),
    ]);
  });

  it('fails with 1 and the reason when it cannot work', async () => {
    await mkdir(home);
    await writeFile(path.join(home, 'home.json'), '{"schema":99}');
    const { exit, stderr } = run();
    expect(await exit).toBe(1);
    expect(stderr()).toContain('later version');
    expect(listener.said).not.toContain('READY=1');
  });
});

describe('under launchd', () => {
  it('a daemon that failed five times in a row stays down with exit 0, and says so', async () => {
    await mkdir(home);
    await writeFile(path.join(home, 'home.json'), '{"schema":99}');
    const { node, script } = serviceHost({ env: { HOME: dir } });
    const run = (): Started =>
      start([node, script, 'run'], { HOME: dir, PATH: process.env.PATH, AMBIENT_HOME: home, AMBIENT_SERVICE: 'launchd' });
    for (let i = 0; i < 5; i++) expect(await run().exit).toBe(1);
    const last = run();
    expect(await last.exit).toBe(0);
    expect(last.stderr()).toContain('failed five times in a row and stays down');
  });
});
