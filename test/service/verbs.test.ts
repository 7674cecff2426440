import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, runHere } from '../cli/support/ambientctl.js';
import { StandIns } from './stand-ins.js';

const at = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

let dir: string;
let standIns: StandIns;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'sv-'));
  standIns = new StandIns(dir);
  await standIns.add('systemctl');
  // A systemctl that runs the unit's program for real, and waits for its socket as the real one waits for readiness.
  const alive = `[ -e '${dir}/pid' ] && grep -q '^State:.[^Z]' "/proc/$(cat '${dir}/pid')/status" 2>/dev/null`;
  const unit = `'${dir}/.config/systemd/user/ambientd.service'`;
  const start = `${alive} || {
    eval "set -- $(sed -n 's/^ExecStart=//p' ${unit})"
    ( sed -n 's/^Environment=/export /p' ${unit} > '${dir}/env'; . '${dir}/env'; exec "$@" > '${dir}/log' 2>&1 ) &
    echo $! > '${dir}/pid'
    while ${alive} && [ ! -S '${dir}/h/run/control.sock' ]; do sleep 0.05; done
  }`;
  const stop = `if ${alive}; then kill "$(cat '${dir}/pid')"; while ${alive}; do sleep 0.05; done; fi; rm -f '${dir}/pid'`;
  await standIns.always('systemctl', 'start', { run: start });
  await standIns.always('systemctl', 'stop', { run: stop });
  await standIns.always('systemctl', 'restart', { run: `${stop}\n${start}` });
  await standIns.always('systemctl', 'disable', { run: stop });
  await standIns.always('systemctl', 'show', {
    run: `if ${alive}; then echo ActiveState=active; echo UnitFileState=enabled; echo "MainPID=$(cat '${dir}/pid')"; else echo ActiveState=inactive; echo MainPID=0; fi`,
    stdout: 'LoadState=loaded\n',
  });
});

afterAll(async () => {
  const pid = Number(await readFile(path.join(dir, 'pid'), 'utf8').catch(() => '0'));
  if (pid > 0) process.kill(pid, 'SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

function ambientctl(args: readonly string[], home = 'h'): Promise<Ended> {
  return runHere(path.join(dir, home), args, { env: { HOME: dir, PATH: standIns.path } });
}

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await ambientctl([...args, '--json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const servicePid = async (): Promise<number> => Number(await readFile(path.join(dir, 'pid'), 'utf8'));
/** Verbs that systemctl was given, questions left out. */
const verbs = async (): Promise<(string | undefined)[]> =>
  (await standIns.calls()).map(([, , verb]) => verb).filter((verb) => verb !== 'show');

describe.skipIf(process.platform !== 'linux')('ambientctl daemon', () => {
  it('install starts the daemon as a service, and again changes nothing', async () => {
    const report = await json('daemon', 'install');
    expect(report).toMatchObject({ changed: true, service: { kind: 'systemd', status: 'running', installed: true, outdated: [] } });
    expect(await verbs()).toEqual(['daemon-reload', 'enable', 'reset-failed', 'start']);
    expect(await json('daemon', 'status')).toMatchObject({ running: true, pid: await servicePid() });
    const again = await ambientctl(['daemon', 'install']);
    expect(again).toMatchObject({ code: 0, stdout: 'The service is installed and up to date.\n' });
    expect(await verbs()).toEqual([]);
  });

  it('stop and start go through the service', async () => {
    const pid = await servicePid();
    expect(await json('daemon', 'stop')).toMatchObject({ stopped: pid });
    expect(await verbs()).toEqual(['stop']);
    expect((await ambientctl(['daemon', 'status'])).code).toBe(1);
    expect(await json('daemon', 'start')).toMatchObject({ started: true });
    expect(await verbs()).toEqual(['reset-failed', 'start']);
    expect(await json('daemon', 'status')).toMatchObject({ pid: await servicePid() });
  });

  it('so does a verb that needs the daemon', async () => {
    await json('daemon', 'stop');
    await verbs();
    await json('devices');
    expect(await verbs()).toEqual(['reset-failed', 'start']);
  });

  it('restart is refused under a recording, and done with --force', async () => {
    await json('start', '--room-file', at('test/fixtures/conversation/room.wav'), '--pace', 'real');
    const before = await servicePid();
    const refused = await ambientctl(['daemon', 'restart']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ambientctl: Recording \S+ is running, and a restart would end it\./),
    });
    expect(await servicePid()).toBe(before);
    expect(await json('daemon', 'restart', '--force')).toMatchObject({ service: true, pid: await servicePid() });
    expect(await servicePid()).not.toBe(before);
  });

  it('install leaves a recording alone, and says when the service takes over', async () => {
    await json('start', '--room-file', at('test/fixtures/conversation/room.wav'), '--pace', 'real');
    const before = await servicePid();
    const unit = path.join(dir, '.config/systemd/user/ambientd.service');
    await writeFile(unit, (await readFile(unit, 'utf8')).replace('RestartSec=2', 'RestartSec=3'));
    expect((await ambientctl(['daemon', 'install'])).stdout).toMatch(/goes on undisturbed/);
    expect(await servicePid()).toBe(before);
    await json('stop');
  });

  it('knows the service of one home from that of another', async () => {
    await verbs();
    expect((await ambientctl(['daemon', 'stop'], 'other')).stdout).toContain('not running');
    expect(await verbs()).toEqual([]);
    expect(await json('daemon', 'status')).toMatchObject({ running: true });
  });

  it('uninstall stops it, and again does nothing', async () => {
    expect(await json('daemon', 'uninstall')).toEqual({ removed: true });
    expect((await ambientctl(['daemon', 'status'])).code).toBe(1);
    expect(await json('daemon', 'uninstall')).toEqual({ removed: false });
  });

  it('names a wrong launch method with exit 2', async () => {
    expect(await ambientctl(['daemon', 'install', '--launch', 'magic'])).toMatchObject({ code: 2 });
  });
});
