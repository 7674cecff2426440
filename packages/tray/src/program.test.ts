import { mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installCommandFor, type LibraryTools, prepareTrayProgram, trayLibraryPath } from './program.js';

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(path.join(os.tmpdir(), 'tp-'));
});
afterEach(() => rm(cache, { recursive: true }));

describe('the tray program', () => {
  it.each(['linux', 'darwin'])('is made executable outside its package (%s), once', async (platform) => {
    const { dir, file } = await prepareTrayProgram(cache, platform, 'x64');
    expect(dir).toBe(cache);
    const first = await stat(file);
    expect(first.mode & 0o777).toBe(0o755);
    expect((await stat((await prepareTrayProgram(cache, platform, 'x64')).file)).ino).toBe(first.ino);
  });

  it('is copied anew when the copy was damaged', async () => {
    const { file } = await prepareTrayProgram(cache, 'linux', 'x64');
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(0, 1000));
    await prepareTrayProgram(cache, 'linux', 'x64');
    expect((await readFile(file)).equals(whole)).toBe(true);
  });

  it('is missing on machines it was not built for', async () => {
    await expect(prepareTrayProgram(cache, 'linux', 'arm64')).rejects.toMatchObject({
      code: 'missing_tool',
      hint: expect.stringContaining('--swiftbar'),
    });
    await expect(prepareTrayProgram(cache, 'freebsd', 'x64')).rejects.toMatchObject({ code: 'missing_tool' });
  });
});

describe('its libraries', () => {
  const tools = (missing: (libraryPath: string | undefined) => string[], successor?: string): LibraryTools => ({
    missing: async (_, libraryPath) => missing(libraryPath),
    find: async () => successor,
    installCommand: async () => 'sudo apt install libayatana-appindicator3-1',
  });
  const shimmed = (libraryPath: string | undefined): boolean => libraryPath?.startsWith(path.join(cache, 'lib')) === true;

  it('are left alone where libappindicator3 is there', async () => {
    expect(
      await trayLibraryPath(
        '/x',
        cache,
        '/own',
        tools(() => []),
      ),
    ).toBe('/own');
    expect(
      await trayLibraryPath(
        '/x',
        cache,
        undefined,
        tools(() => []),
      ),
    ).toBeUndefined();
  });

  it('are given libayatana-appindicator3 under the old name', async () => {
    const only = tools((libraryPath) => (shimmed(libraryPath) ? [] : ['libappindicator3.so.1']), '/usr/lib/libayatana-appindicator3.so.1');
    expect(await trayLibraryPath('/x', cache, '/own', only)).toBe(`${cache}/lib:/own`);
    expect(await trayLibraryPath('/x', cache, undefined, only)).toBe(`${cache}/lib`);
    expect(await readlink(path.join(cache, 'lib/libappindicator3.so.1'))).toBe('/usr/lib/libayatana-appindicator3.so.1');
  });

  it('where neither is there, say which package to install', async () => {
    await expect(
      trayLibraryPath(
        '/x',
        cache,
        undefined,
        tools(() => ['libappindicator3.so.1', 'libgtk-3.so.0']),
      ),
    ).rejects.toMatchObject({
      code: 'missing_tool',
      message: 'The tray icon needs libappindicator3.so.1 and libgtk-3.so.0, which are not installed.',
      hint: 'Install it: sudo apt install libayatana-appindicator3-1',
    });
  });

  it.each([
    ['ID=debian\n', 'sudo apt install libayatana-appindicator3-1'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'sudo apt install libayatana-appindicator3-1'],
    ['ID=fedora\n', 'sudo dnf install libayatana-appindicator-gtk3'],
    ['ID=arch\n', 'sudo pacman -S libayatana-appindicator'],
    ['ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', 'sudo zypper install libayatana-appindicator3-1'],
    ['', 'the package with libayatana-appindicator3 (GTK 3)'],
  ])('name the package of the distribution (%j)', (release, command) => {
    expect(installCommandFor(release)).toBe(command);
  });
});
