import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceHost, servicePath, stableNode } from '../../packages/cli/src/service/host.js';

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'host-')));
});
afterEach(() => rm(dir, { recursive: true }));

describe('the node of the service', () => {
  it("is Homebrew's lasting path, not the versioned one that the next upgrade deletes", async () => {
    const cellar = path.join(dir, 'Cellar/node@22/22.3.0/bin');
    await mkdir(cellar, { recursive: true });
    await writeFile(path.join(cellar, 'node'), '');
    expect(stableNode(path.join(cellar, 'node'))).toBe(path.join(cellar, 'node'));
    await mkdir(path.join(dir, 'opt'));
    await symlink('../Cellar/node@22/22.3.0', path.join(dir, 'opt/node@22'));
    expect(stableNode(path.join(cellar, 'node'))).toBe(path.join(dir, 'opt/node@22/bin/node'));
  });

  it('is the executable itself for any other installer', () => {
    expect(stableNode('/home/u/.nvm/versions/node/v20.19.0/bin/node')).toBe('/home/u/.nvm/versions/node/v20.19.0/bin/node');
  });
});

describe('the PATH of the service', () => {
  it('keeps what the user has, drops what belongs to one shell or project, and adds the standard folders', () => {
    const PATH = [
      './bin',
      '',
      '/home/u/bin/',
      '/run/user/1000/fnm_multishells/123_456/bin',
      '/home/u/project/node_modules/.bin',
      '/usr/bin',
      '/home/u/bin',
    ].join(':');
    expect(servicePath({ PATH }, '/home/u/.nvm/versions/node/v20.19.0/bin/node')).toBe(
      '/home/u/.nvm/versions/node/v20.19.0/bin:/home/u/bin:/usr/bin:/opt/homebrew/bin:/usr/local/bin:/bin:/usr/sbin:/sbin',
    );
  });

  it('works out from a bare environment', () => {
    expect(servicePath({}, '/usr/bin/node')).toBe('/usr/bin:/opt/homebrew/bin:/usr/local/bin:/bin:/usr/sbin:/sbin');
    const host = serviceHost({ env: { HOME: '/home/u' }, platform: 'linux' });
    expect([host.node, host.script, host.paths.home].every((file) => path.isAbsolute(file))).toBe(true);
    expect(() => serviceHost({ env: {} })).toThrow('HOME');
  });
});
