import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parse } from 'plist';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runner } from '../../packages/cli/src/service/exec.js';
import { serviceHost } from '../../packages/cli/src/service/host.js';
import { LaunchdManager } from '../../packages/cli/src/service/launchd/manager.js';
import type { RunningDaemon } from '../../packages/cli/src/service/running-daemon.js';
import { StandIns } from './stand-ins.js';

const TARGET = 'gui/501/io.ambient.daemon';
const LOADED = `${TARGET} = {\n\tactive count = 1\n\tpath = /x.plist\n\ttype = LaunchAgent\n\tstate = running\n\n\tprogram = /x\n\truns = 1\n\tpid = 4242\n\tlast exit code = (never exited)\n}\n`;
const IDENTITY = 'Apple Development: user@example.org (ABCDE12345)';

let compiled: string;
let dir: string;
let home: string;
let standIns: StandIns;
let node: string;
let daemon: { pid: number; recording: string | null } | null;
let asked: string[];
let slept: number;

const fakeDaemon: RunningDaemon = {
  look: async () => daemon,
  answers: async () => true,
  stop: async () => {
    asked.push('stop');
    daemon = null;
  },
};

function compile(file: string, main: string): void {
  execFileSync('cc', ['-x', 'c', '-', '-o', file], { input: `#include <stdio.h>\n${main}\n` });
}

/** A small real executable in place of node, whose copies take no time. */
beforeAll(async () => {
  compiled = path.join(await mkdtemp(path.join(os.tmpdir(), 'lnd-')), 'node');
  compile(compiled, `int main(void) { puts("${process.version}"); return 0; }`);
});
afterAll(() => rm(path.dirname(compiled), { recursive: true }));

beforeEach(async () => {
  dir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'lnd-')));
  home = path.join(dir, 'user');
  node = path.join(dir, 'node');
  await copyFile(compiled, node);
  standIns = new StandIns(dir);
  await standIns.add('launchctl', 'codesign', 'security', 'tccutil', 'open');
  daemon = null;
  asked = [];
  slept = 0;
  // launchd as it is without the service; bootstrap and bootout change what print says.
  await standIns.always('launchctl', 'print', {
    run: `[ -e '${dir}/loaded' ] || { echo 'Could not find service "io.ambient.daemon" in domain for user gui: 501' >&2; exit 113; }`,
    stdout: LOADED,
  });
  await standIns.always('launchctl', 'bootstrap', { run: `touch '${dir}/loaded'` });
  await standIns.always('launchctl', 'bootout', {
    run: `[ -e '${dir}/loaded' ] || { echo 'Boot-out failed: 3: No such process' >&2; exit 3; }\nrm '${dir}/loaded'`,
  });
  await standIns.always('open', 'any', {
    run: `while [ "$1" != '--args' ]; do shift; done\nprintf '{"microphone":"heard","system_audio":"opened"}' > "$3"`,
  });
  await adHoc();
});

afterEach(() => rm(dir, { recursive: true }));

const adHoc = (): Promise<void> => standIns.always('codesign', bundle(), { stderr: 'Identifier=io.ambient.daemon\nSignature=adhoc\n' });
const bundle = (): string => path.join(home, 'Applications/Ambient.app');
const plistFile = (): string => path.join(home, 'Library/LaunchAgents/io.ambient.daemon.plist');

function manager(overrides: { version?: string; home?: string } = {}): LaunchdManager {
  const env = {
    HOME: home,
    AMBIENT_HOME: overrides.home ?? path.join(dir, 'data home'),
    PATH: `${standIns.path}:relative:/tmp/x/node_modules/.bin`,
  };
  const host = serviceHost({
    platform: 'darwin',
    env,
    uid: 501,
    execPath: node,
    script: '/opt/ambient/bin/ambientd.js',
    version: overrides.version ?? '1.2.3',
  });
  return new LaunchdManager(host, runner(env), fakeDaemon, {
    sleep: async (ms) => {
      slept += ms;
    },
  });
}

/** The calls, with the folder of a temporary file left out. */
async function calls(): Promise<string[]> {
  return (await standIns.calls()).map((call) =>
    call
      .join(' ')
      .replaceAll(dir, '~')
      .replace(/\S+\/ambient-(sign|ask)-\w+/g, 'TMP'),
  );
}

const SIGN = (identity: string): string =>
  `codesign --force --sign ${identity} --identifier io.ambient.daemon --options runtime --entitlements TMP/entitlements.plist --timestamp=none ~/user/Applications/Ambient.app.new`;
const VERIFY_NEW = 'codesign --verify --strict ~/user/Applications/Ambient.app.new';
const VERIFY = 'codesign --verify --strict ~/user/Applications/Ambient.app';
const DISPLAY = 'codesign --display --verbose=2 ~/user/Applications/Ambient.app';
const SERVICE_PATH = '~:~/bin:/usr/bin:/bin:/opt/homebrew/bin:/usr/local/bin:/usr/sbin:/sbin';

describe('the launch agent', () => {
  it('is installed by these commands in this order, and asks for the microphone under its own name', async () => {
    const report = await manager().install();
    expect(
      (await calls()).map((call) => call.replace(/\S+ask-main.js/, 'ASK').replace(/(-|\S+audiotee\/bin\/audiotee) 60$/, 'TEE 60')),
    ).toEqual([
      `launchctl print ${TARGET}`,
      'security find-identity -v -p codesigning',
      SIGN('-'),
      VERIFY_NEW,
      `open -W -n -g --env PATH=${SERVICE_PATH} ~/user/Applications/Ambient.app --args ASK TMP/answer.json TEE 60`,
      `launchctl print ${TARGET}`,
      `launchctl enable ${TARGET}`,
      `launchctl bootstrap gui/501 ~/user/Library/LaunchAgents/io.ambient.daemon.plist`,
      `launchctl print ${TARGET}`,
    ]);
    expect(report.changed).toBe(true);
    expect(report.written).toEqual([bundle(), plistFile()]);
    expect(report.notes.join(' ')).toContain('signed ad hoc');
    expect(report.notes.join(' ')).toContain('The microphone is allowed and was heard.');
  });

  it('has exactly these keys', async () => {
    await manager().install();
    expect(parse(await readFile(plistFile(), 'utf8'))).toEqual({
      Label: 'io.ambient.daemon',
      ProgramArguments: [`${bundle()}/Contents/MacOS/ambientd`, '/opt/ambient/bin/ambientd.js', 'run'],
      AssociatedBundleIdentifiers: ['io.ambient.daemon'],
      EnvironmentVariables: {
        AMBIENT_HOME: path.join(dir, 'data home'),
        AMBIENT_SERVICE: 'launchd',
        PATH: SERVICE_PATH.replaceAll('~', dir),
      },
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      ExitTimeOut: 20,
      ProcessType: 'Interactive',
      Umask: 63,
      StandardOutPath: path.join(dir, 'data home/logs/launchd.log'),
      StandardErrorPath: path.join(dir, 'data home/logs/launchd.log'),
      WorkingDirectory: '/',
    });
    // launchd refuses an agent that others may write.
    expect((await stat(plistFile())).mode & 0o777).toBe(0o644);
  });

  it('starts the bundle through LaunchServices with --launch open, and keeps that on the next install', async () => {
    await manager().install({ launch: 'open', ask: false });
    const log = path.join(dir, 'data home/logs/launchd.log');
    const expected = [
      '/usr/bin/open',
      '-W',
      '-g',
      '--env',
      `AMBIENT_HOME=${path.join(dir, 'data home')}`,
      '--env',
      'AMBIENT_SERVICE=launchd',
      '--env',
      `PATH=${SERVICE_PATH.replaceAll('~', dir)}`,
      '--stdout',
      log,
      '--stderr',
      log,
      bundle(),
      '--args',
      '/opt/ambient/bin/ambientd.js',
      'run',
    ];
    expect(parse(await readFile(plistFile(), 'utf8'))).toMatchObject({ ProgramArguments: expected });
    expect((await manager().install()).changed).toBe(false);
    expect((await manager().state()).macos?.launch).toBe('open');
  });

  it('changes nothing when it is installed again', async () => {
    await manager().install();
    await calls();
    const before = await stat(`${bundle()}/Contents/MacOS/ambientd`);
    expect(await manager().install()).toEqual({ changed: false, written: [], notes: [] });
    expect(await calls()).toEqual([VERIFY, `launchctl print ${TARGET}`]);
    expect((await stat(`${bundle()}/Contents/MacOS/ambientd`)).ino).toBe(before.ino);
  });

  it('is ended, unloaded and loaded anew when its content changes', async () => {
    await manager().install();
    await calls();
    await manager({ home: path.join(dir, 'other') }).install();
    expect(await calls()).toEqual([
      VERIFY,
      `launchctl print ${TARGET}`,
      `launchctl bootout ${TARGET}`,
      `launchctl print ${TARGET}`,
      `launchctl print ${TARGET}`,
      `launchctl enable ${TARGET}`,
      'launchctl bootstrap gui/501 ~/user/Library/LaunchAgents/io.ambient.daemon.plist',
      `launchctl print ${TARGET}`,
    ]);
    expect(await manager().installed()).toBe(false);
    expect(await manager({ home: path.join(dir, 'other') }).installed()).toBe(true);
  });

  it('takes over from a daemon that was started by hand', async () => {
    daemon = { pid: 77, recording: null };
    const { notes } = await manager().install({ ask: false });
    expect(asked).toEqual(['stop']);
    expect(notes.join(' ')).toContain('pid 77');
  });

  it('leaves a running recording, its executable and its agent alone', async () => {
    daemon = { pid: 77, recording: '2026-11-30T1608' };
    const report = await manager().install();
    expect(report.changed).toBe(false);
    expect(report.notes).toEqual([expect.stringContaining('2026-11-30T1608 goes on undisturbed')]);
    expect(await calls()).toEqual([`launchctl print ${TARGET}`]);
    expect(asked).toEqual([]);
  });

  it('is removed with its bundle, and removing it again does nothing', async () => {
    await manager().install();
    await calls();
    expect(await manager().uninstall()).toBe(true);
    expect(await calls()).toEqual([`launchctl print ${TARGET}`, `launchctl bootout ${TARGET}`, `launchctl print ${TARGET}`]);
    await expect(stat(plistFile())).rejects.toThrow('ENOENT');
    await expect(stat(bundle())).rejects.toThrow('ENOENT');
    expect(await manager().uninstall()).toBe(false);
    expect(await calls()).toEqual([`launchctl print ${TARGET}`]);
  });
});

describe('starting and stopping', () => {
  beforeEach(async () => {
    await manager().install({ ask: false });
    await calls();
  });

  it('starts with bootstrap when unloaded, kickstart when loaded and idle, and not at all when running', async () => {
    await manager().start();
    expect(await calls()).toEqual([`launchctl print ${TARGET}`]);
    await standIns.once('launchctl', 'print', { stdout: LOADED.replace('running', 'not running') });
    await manager().start();
    expect(await calls()).toEqual([`launchctl print ${TARGET}`, `launchctl kickstart ${TARGET}`]);
    await manager().stop();
    expect(await calls()).toEqual([`launchctl bootout ${TARGET}`, `launchctl print ${TARGET}`]);
    await manager().start();
    expect((await calls())[2]).toContain('launchctl bootstrap');
  });

  it('waits until launchd has let go of the job before it loads it again', async () => {
    await standIns.always('launchctl', 'bootout', { code: 36, stderr: 'Boot-out failed: 36: Operation now in progress\n' });
    await standIns.once('launchctl', 'print', { stdout: LOADED });
    await standIns.once('launchctl', 'print', { stdout: LOADED, run: `rm '${dir}/loaded'` });
    await manager().restart();
    expect((await calls()).map((call) => call.split(' ')[1])).toEqual([
      'bootout',
      'print',
      'print',
      'print',
      'print',
      'enable',
      'bootstrap',
      'print',
    ]);
    expect(slept).toBe(1000);
  });

  it.each([
    [5, 'Bootstrap failed: 5: Input/output error'],
    [37, 'Bootstrap failed: 37: Operation already in progress'],
    // Older launchctl exits 1 and prints the code.
    [1, 'Bootstrap failed: 5: Input/output error'],
  ])('tries bootstrap again while launchd settles (%i, %s)', async (code, stderr) => {
    await manager().stop();
    await standIns.once('launchctl', 'bootstrap', { code, stderr: `${stderr}\nTry re-running the command as root for richer errors.\n` });
    await standIns.once('launchctl', 'bootstrap', { code, stderr });
    await manager().start();
    expect((await calls()).filter((call) => call.includes('bootstrap'))).toHaveLength(3);
  });

  it('gets a loaded job going that launchd did not spawn', async () => {
    await manager().stop();
    await calls();
    for (let i = 0; i < 8; i++)
      await standIns.once('launchctl', 'print', i === 0 ? { code: 113 } : { stdout: LOADED.replace('running', 'not running') });
    await manager().start();
    expect((await calls()).at(-1)).toBe(`launchctl kickstart ${TARGET}`);
  });

  it('asks a daemon that LaunchServices started to stop, since ending `open` does not end it', async () => {
    await manager().install({ launch: 'open', ask: false });
    daemon = { pid: 9, recording: null };
    asked = [];
    await manager().stop();
    expect(asked).toEqual(['stop']);
  });

  it('gives a daemon that stays down five new tries when a person starts it', async () => {
    const file = path.join(dir, 'data home/service-starts.json');
    await writeFile(file, JSON.stringify({ starts: Array.from({ length: 5 }, () => '2026-11-30T16:08:00Z') }));
    await standIns.once('launchctl', 'print', { stdout: LOADED.replace('running', 'not running') });
    const state = await manager().state();
    expect(state).toMatchObject({ status: 'failed', detail: 'The daemon failed five times in a row and stays down.' });
    expect(state.hint).toContain('ambientctl daemon restart');
    await manager().start();
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });
});

describe('what launchctl says', () => {
  beforeEach(async () => {
    await manager().install({ ask: false });
    await manager().stop();
  });

  it.each([
    [5, 'Bootstrap failed: 5: Input/output error', 'unavailable', /still holds the old job/, /uninstall/],
    [112, 'Could not find domain for user gui: 501', 'unavailable', /no graphical session/, /Log in at the screen/],
    [119, 'Bootstrap failed: 119: Service is disabled', 'conflict', /turned off/, /Login Items/],
    [122, 'Bootstrap failed: 122: Path had bad ownership/permissions', 'forbidden', /wrong owner/, /without sudo/],
    [
      125,
      'Bootstrap failed: 125: Domain does not support specified action',
      'unavailable',
      /not a graphical session/,
      /Log in at the screen/,
    ],
    [133, '/x.plist: Invalid property list', 'bad_config', /not a valid property list/, /install/],
    [134, 'Bootstrap failed: 134: Service cannot load in requested session', 'unavailable', /this session/, /Log in at the screen/],
    [78, 'Bootstrap failed: 78: Function not implemented', 'internal', /78: Function not implemented/, /launchctl error 78/],
  ])('explains bootstrap error %i', async (code, stderr, kind, message, hint) => {
    await standIns.always('launchctl', 'bootstrap', { code, stderr });
    await expect(manager().start()).rejects.toMatchObject({
      code: kind,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    expect(slept > 0).toBe(code === 5);
  });

  it('reads 113 from print as not loaded, and explains any other refusal', async () => {
    expect((await manager().state()).status).toBe('stopped');
    await standIns.always('launchctl', 'print', { code: 125, stderr: 'Domain does not support specified action' });
    await expect(manager().state()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('125') });
  });

  it('names launchctl when it is missing', async () => {
    await rm(path.join(standIns.bin, 'launchctl'));
    await expect(manager().state()).rejects.toMatchObject({ code: 'missing_tool', message: 'launchctl was not found on PATH.' });
  });
});

describe('the application bundle', () => {
  it('has exactly this Info.plist, these entitlements and node as its main executable', async () => {
    const entitlements = path.join(dir, 'entitlements');
    await standIns.once('codesign', 'io.ambient.daemon', {
      run: `while [ "$1" != '--entitlements' ]; do shift; done; cp "$2" '${entitlements}'`,
    });
    await manager().install({ ask: false });
    expect(parse(await readFile(`${bundle()}/Contents/Info.plist`, 'utf8'))).toEqual({
      CFBundleInfoDictionaryVersion: '6.0',
      CFBundleIdentifier: 'io.ambient.daemon',
      CFBundleName: 'Ambient',
      CFBundleDisplayName: 'Ambient',
      CFBundleExecutable: 'ambientd',
      CFBundlePackageType: 'APPL',
      CFBundleShortVersionString: '1.2.3',
      CFBundleVersion: '1.2.3',
      LSUIElement: true,
      NSMicrophoneUsageDescription: expect.stringMatching(/records what is said in the room/),
      NSAudioCaptureUsageDescription: expect.stringMatching(/records what this Mac plays/),
      AmbientNode: node,
      AmbientNodeVersion: process.version,
      AmbientNodeSHA256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(parse(await readFile(entitlements, 'utf8'))).toEqual({
      'com.apple.security.device.audio-input': true,
      'com.apple.security.cs.allow-jit': true,
      'com.apple.security.cs.allow-unsigned-executable-memory': true,
      'com.apple.security.cs.disable-library-validation': true,
    });
    const executable = `${bundle()}/Contents/MacOS/ambientd`;
    expect((await stat(executable)).mode & 0o777).toBe(0o755);
    expect((await readFile(executable)).equals(await readFile(node))).toBe(true);
  });

  it('is signed with the most lasting identity there is', async () => {
    await standIns.always('security', 'find-identity', {
      stdout: `  1) ${'A'.repeat(40)} "Self Made"\n  2) ${'B'.repeat(40)} "${IDENTITY}"\n     2 valid identities found\n`,
    });
    const { notes } = await manager().install({ ask: false });
    expect(await calls()).toContain(SIGN(IDENTITY));
    expect(notes.join(' ')).toContain(`signed with "${IDENTITY}"`);
  });

  it('is signed ad hoc, with a word about it, when the identity cannot be used', async () => {
    await standIns.always('security', 'find-identity', { stdout: `  1) ${'B'.repeat(40)} "${IDENTITY}"\n` });
    await standIns.always('codesign', IDENTITY, { code: 1, stderr: 'Ambient.app.new: errSecInternalComponent\n' });
    const { notes } = await manager().install({ ask: false });
    expect((await calls()).filter((call) => call.includes('--sign'))).toEqual([SIGN(IDENTITY), SIGN('-')]);
    expect(notes.join(' ')).toContain('errSecInternalComponent');
  });

  it('refuses an identity that was asked for and cannot be used', async () => {
    await standIns.always('codesign', 'Mine', { code: 1, stderr: 'Mine: no identity found\n' });
    await expect(manager().install({ identity: 'Mine' })).rejects.toMatchObject({
      message: expect.stringContaining('no identity found'),
      hint: expect.stringContaining('unlock-keychain'),
    });
    await expect(stat(bundle())).rejects.toThrow('ENOENT');
  });

  it('is rebuilt, re-signed and asked for again after node was replaced', async () => {
    await manager().install({ ask: false });
    await calls();
    await writeFile(node, Buffer.concat([await readFile(compiled), Buffer.from('newer')]));
    expect((await manager().state()).outdated).toEqual([expect.stringContaining('node has been replaced')]);
    await calls();
    const { notes } = await manager().install();
    expect((await calls()).filter((call) => !call.startsWith('launchctl')).map((call) => call.split(' ').slice(0, 4).join(' '))).toEqual([
      DISPLAY,
      'security find-identity -v -p',
      'codesign --force --sign -',
      'codesign --verify --strict ~/user/Applications/Ambient.app.new',
      'tccutil reset Microphone io.ambient.daemon',
      'tccutil reset AudioCapture io.ambient.daemon',
      'open -W -n -g',
    ]);
    expect(notes.join(' ')).toContain('asks for the microphone and for system audio once more');
    expect((await manager().state()).outdated).toEqual([]);
  });

  it('keeps its grants when it is rebuilt with the same stable identity', async () => {
    await standIns.always('security', 'find-identity', { stdout: `  1) ${'B'.repeat(40)} "${IDENTITY}"\n` });
    await standIns.always('codesign', bundle(), { stderr: `Authority=${IDENTITY}\nAuthority=Apple Root CA\n` });
    await manager().install({ ask: false });
    await calls();
    const { notes } = await manager({ version: '1.3.0' }).install({ ask: false });
    expect((await calls()).some((call) => call.startsWith('tccutil'))).toBe(false);
    expect(notes.join(' ')).not.toContain('once more');
  });

  it('says how to clear an old answer that tccutil could not', async () => {
    await manager().install({ ask: false });
    await standIns.always('tccutil', 'reset', { code: 70, stderr: 'tccutil: Failed to reset Microphone approval status\n' });
    const { notes } = await manager({ version: '1.3.0' }).install({ ask: false });
    expect(notes.join(' ')).toContain('run `tccutil reset Microphone io.ambient.daemon`');
  });

  it('is rebuilt when its signature is no longer valid', async () => {
    await manager().install({ ask: false });
    await standIns.once('codesign', bundle(), { code: 1, stderr: 'Ambient.app: a sealed resource is missing or invalid\n' });
    expect((await manager().state()).outdated).toEqual([expect.stringContaining('sealed resource')]);
  });

  it('is refused around a wrapper script, with the old one left in place', async () => {
    await manager().install({ ask: false });
    await writeFile(node, '#!/bin/sh\nexec node "$@"\n');
    await expect(manager().install()).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining('not a Mach-O executable'),
    });
    expect((await stat(`${bundle()}/Contents/MacOS/ambientd`)).size).toBe((await stat(compiled)).size);
  });

  it('is refused around a node that does not run as a copy', async () => {
    compile(node, 'int main(void) { fputs("dyld: Library not loaded: @rpath/libnode.dylib\\n", stderr); return 134; }');
    await expect(manager().install()).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining('libnode.dylib'),
      hint: expect.stringContaining('nodejs.org'),
    });
    await expect(stat(bundle())).rejects.toThrow('ENOENT');
  });

  it.each([
    ['{"microphone":"silent","system_audio":"failed"}', /gave only silence.*Privacy & Security → Microphone.*tccutil reset Microphone/s],
    ['{"microphone":"no_recorder","system_audio":"no_recorder"}', /brew install sox/],
    ['garbage', /could not try the microphone/],
  ])('reports what came of asking (%s)', async (answer, expected) => {
    await standIns.always('open', 'any', { run: `while [ "$1" != '--args' ]; do shift; done\nprintf '%s' '${answer}' > "$3"` });
    expect((await manager().install()).notes.join('\n')).toMatch(expected);
  });
});
