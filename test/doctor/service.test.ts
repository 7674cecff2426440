import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderUnit } from '../../packages/cli/src/service/systemd/unit.js';
import { StandIns } from '../service/stand-ins.js';
import { type DoctorKit, openDoctorKit, said } from './kit.js';

describe.skipIf(process.platform !== 'linux')('doctor and the systemd unit', () => {
  let kit: DoctorKit;
  let standIns: StandIns;

  beforeAll(async () => {
    kit = await openDoctorKit();
    standIns = new StandIns(path.join(kit.user, 's'));
    await standIns.add('systemctl');
    const dir = path.join(kit.user, '.config/systemd/user');
    await mkdir(dir, { recursive: true });
    const environment = { AMBIENT_HOME: kit.paths.home, AMBIENT_SERVICE: 'systemd', PATH: '/usr/bin' };
    await writeFile(path.join(dir, 'ambientd.service'), renderUnit({ node: '/gone/node', script: '/gone/ambientd.js', environment }));
  });
  afterAll(() => kit.remove());

  it('names a service that failed, and that its program is gone', async () => {
    await standIns.always('systemctl', 'show', {
      stdout: 'LoadState=loaded\nActiveState=failed\nResult=exit-code\nExecMainStatus=1\nMainPID=0\n',
    });
    const report = await kit.doctor({ PATH: standIns.path });
    expect(said(report.get('service'))).toMatch(/failed \(exit-code, code 1\).*\/gone\/node, which is no longer there.*daemon install/);
    expect(report.code).toBe(1);
  });

  it('names a login without a service manager', async () => {
    await standIns.always('systemctl', 'show', { code: 1, stderr: 'Failed to connect to bus: No medium found\n' });
    expect(said((await kit.doctor({ PATH: standIns.path })).get('service'))).toMatch(/no user service manager.*Log in/);
  });
});
