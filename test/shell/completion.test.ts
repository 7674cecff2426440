import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { McpClient } from '@ambient/contract';
import { doneSummary } from '@ambient/contract/test-kit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { FakeDaemon } from '../cli/support/fake-daemon.js';
import { requireTools } from '../support/require-tool.js';
import { Terminal } from './terminal.js';

const CLI = fileURLToPath(new URL('../../packages/cli/bin/ambientctl.js', import.meta.url));
const BASH_COMPLETION = '/usr/share/bash-completion/bash_completion';
const run = promisify(execFile);

let dir: string;
let env: NodeJS.ProcessEnv;
let daemon: FakeDaemon;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'sh-'));
  await mkdir(path.join(dir, 'bin'));
  // Completion is asked of the real program; what a completed line runs is only written down.
  const program = path.join(dir, 'bin/ambientctl');
  await writeFile(
    program,
    `#!/bin/sh\ncase "$1" in __complete|completion) exec '${process.execPath}' '${CLI}' "$@" ;; esac\nprintf '%s\\n' "$@" > '${dir}/ran.new' && mv '${dir}/ran.new' '${dir}/ran'\n`,
  );
  await chmod(program, 0o755);
  env = {
    HOME: dir,
    PATH: `${dir}/bin:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    AMBIENT_HOME: path.join(dir, 'h'),
    XDG_DATA_HOME: path.join(dir, 'data'),
    XDG_CONFIG_HOME: path.join(dir, 'config'),
  };
  daemon = new FakeDaemon(path.join(dir, 'h'), {
    sessions: () => ({ sessions: [doneSummary('2026-11-30T1608', { name: 'Weekly: plans' }), doneSummary('2026-11-29T0900')], total: 2 }),
    approvals: () => ({ approvals: [] }),
    mcp: () => ({
      enabled: true,
      socket: null,
      clients: [mcpClient('a1b2c3', 'My notes'), mcpClient('d4e5f6', 'Old', '2026-11-01T00:00:00Z')],
    }),
  });
  await daemon.start();
});
afterAll(async () => {
  await daemon.stop();
  await rm(dir, { recursive: true, force: true });
});

function mcpClient(id: string, name: string, revoked: string | null = null): McpClient {
  const made = '2026-10-01T00:00:00Z';
  return {
    ...{ id, name, host: null, access: 'enabled', toolsets: ['sessions'], scope: { tags: [], since: null, sessions: [] }, connections: 0 },
    ...{ created_at: made, last_used_at: null, expires_at: made, revoked_at: revoked },
  };
}

async function complete(...words: readonly string[]): Promise<string[]> {
  const { stdout } = await runHere(path.join(dir, 'h'), ['__complete', '--', ...words], { env: { HOME: dir } });
  return stdout.split('\n').slice(0, -1);
}
const values = (lines: readonly string[]): string[] => lines.slice(1).map((line) => line.split('\t')[0] ?? '');

describe('what is offered', () => {
  it('verbs, sub-verbs and nothing hidden', async () => {
    expect(values(await complete('st'))).toEqual(['start', 'stop', 'strike', 'status']);
    expect(values(await complete('daemon', 'in'))).toEqual(['install']);
    expect(values(await complete(''))).not.toContain('__complete');
  });

  it('options once each, and the global ones', async () => {
    expect(values(await complete('show', '--'))).toEqual(expect.arrayContaining(['--verbatim', '--coverage', '--json', '--help']));
    expect(values(await complete('show', '--verbatim', '--v'))).not.toContain('--verbatim');
  });

  it('choices of arguments and of options, in both spellings', async () => {
    expect(values(await complete('mute', ''))).toEqual(['room', 'call']);
    expect(values(await complete('export', 'last', '--format', 'm'))).toEqual(['markdown']);
    expect(values(await complete('export', '--format=t'))).toEqual(['--format=text']);
  });

  it('session ids with their names, from the daemon', async () => {
    expect(await complete('show', '2026-11-30')).toEqual(['none', '2026-11-30T1608\tWeekly: plans']);
    expect(values(await complete('show', 'l'))).toEqual(['last', 'live']);
    expect(values(await complete('export', '--format', 'text', '2'))).toEqual(['2026-11-30T1608', '2026-11-29T0900']);
  });

  it('files where files belong, and settings by name', async () => {
    expect(await complete('import', '')).toEqual(['files']);
    expect(await complete('start', '--room-file', '')).toEqual(['files']);
    expect(values(await complete('config', 'transcription.m'))).toEqual(['transcription.model', 'transcription.max_turn_seconds']);
  });

  it('hosts, toolsets by commas, and clients by name and id', async () => {
    for (const verb of ['connect', 'disconnect']) expect(await complete('mcp', verb, 'cu')).toEqual(['none', 'cursor\tCursor']);
    expect(values(await complete('mcp', 'set', 'x', '--toolset', ''))).toEqual(['sessions', 'assistant', 'library']);
    expect(values(await complete('mcp', 'set', 'x', '--toolset', 'library,a'))).toEqual(['library,assistant']);
    expect(values(await complete('mcp', 'set', 'x', '--toolset=library,s'))).toEqual(['--toolset=library,sessions']);
    expect(await complete('mcp', 'set', '')).toEqual(['none', 'My notes\ta1b2c3', 'a1b2c3\tMy notes']);
  });

  it('the values of a setting that has only a few', async () => {
    expect(values(await complete('config', 'transcription.model', ''))).toEqual(['moonshine-base', 'moonshine-tiny']);
    expect(values(await complete('config', 'log.level', 'w'))).toEqual(['warn']);
    expect(values(await complete('config', 'mcp.enabled', ''))).toEqual(['true', 'false']);
    expect(values(await complete('config', 'audio_retention_days', ''))).toEqual(['forever']);
    for (const key of ['disk.low_mb', 'audio.device', 'nosuch']) expect(values(await complete('config', key, ''))).toEqual([]);
  });

  it('verbs for help, at each step', async () => {
    expect(values(await complete('help', 'mc'))).toEqual(['mcp']);
    expect(values(await complete('help', 'mcp', 'c'))).toEqual(['connect']);
    expect(values(await complete('help', 'mcp', 'nosuch', ''))).toEqual([]);
  });

  it('nothing for what nobody can know, and never an error', async () => {
    expect(await complete('search', 'wo')).toEqual(['none']);
    expect(await complete('nonsense', '--also', '')).toEqual(['none']);
    expect(await complete('start', '--', '--n')).toEqual(['none']);
  });

  it('session folders while no daemon runs, without starting one', async () => {
    const home = path.join(dir, 'other');
    await mkdir(path.join(home, 'sessions/2026-01-02T0304'), { recursive: true });
    const { stdout } = await run(path.join(dir, 'bin/ambientctl'), ['__complete', '--', 'show', '2026'], {
      env: { ...env, AMBIENT_HOME: home },
    });
    expect(stdout).toBe('none\n2026-01-02T0304\t\n');
    await expect(readFile(path.join(home, 'daemon.json'))).rejects.toThrow('ENOENT');
  });
});

describe('in a real shell', () => {
  let terminal: Terminal | undefined;
  beforeEach(() => rm(path.join(dir, 'ran'), { force: true }));
  afterEach(async () => {
    await terminal?.close();
    terminal = undefined;
  });

  /** Types a verb, an option and a session id, each completed by Tab, and runs the line. */
  async function typeALine(shell: Terminal): Promise<string[]> {
    await shell.type('ambientctl sho\t', /sho.*w /s);
    await shell.type('--verb\t', /--verb.*atim /s);
    await shell.type('2026-11-30\t', /2026-11-30.*T1608 /s);
    await shell.type('\r', /\$ $/);
    return (await readFile(path.join(dir, 'ran'), 'utf8')).split('\n').slice(0, -1);
  }

  it.skipIf(!requireTools(['bash', 'script']))('bash completes a verb, an option and a session id', async () => {
    terminal = new Terminal("PS1='$ ' bash --norc --noprofile -i", { ...env, PS1: '$ ' });
    await terminal.shows(/\$ $/);
    await terminal.type("PS1='$ '; source <(ambientctl completion bash); echo loa''ded\r", /loaded\n\$ $/);
    expect(await typeALine(terminal)).toEqual(['show', '--verbatim', '2026-11-30T1608']);
  });

  it.skipIf(!existsSync(BASH_COMPLETION))('bash-completion loads it, as `completion install` leaves it', async () => {
    await run(path.join(dir, 'bin/ambientctl'), ['completion', 'install', 'bash'], { env });
    terminal = new Terminal('bash --norc --noprofile -i', env);
    await terminal.type(`PS1='$ '; source ${BASH_COMPLETION}; echo loa''ded\r`, /loaded\n\$ $/);
    expect(await typeALine(terminal)).toEqual(['show', '--verbatim', '2026-11-30T1608']);
  });

  it.skipIf(!requireTools(['zsh', 'script']))('zsh completes a verb, an option and a session id', async () => {
    terminal = new Terminal('zsh -f -i', env);
    await terminal.type(
      "PS1='$ '; autoload -Uz compinit && compinit -u -d $HOME/zd && source <(ambientctl completion zsh); echo loa''ded\r",
      /loaded\n.*\$ $/s,
    );
    expect(await typeALine(terminal)).toEqual(['show', '--verbatim', '2026-11-30T1608']);
  });

  it.skipIf(!requireTools(['zsh', 'script']))('zsh loads it from fpath, as `completion install` leaves it', async () => {
    await run(path.join(dir, 'bin/ambientctl'), ['completion', 'install', 'zsh'], { env });
    terminal = new Terminal('zsh -f -i', env);
    const load =
      "PS1='$ '; fpath=($XDG_DATA_HOME/zsh/site-functions $fpath); autoload -Uz compinit && compinit -u -d $HOME/zd2; echo loa''ded\r";
    await terminal.type(load, /loaded\n.*\$ $/s);
    expect(await typeALine(terminal)).toEqual(['show', '--verbatim', '2026-11-30T1608']);
  });

  it.skipIf(!requireTools(['fish']))('fish completes a verb, an option and a session id, and files', async () => {
    await writeFile(path.join(dir, 'talk.wav'), '');
    const ask = async (line: string): Promise<string> =>
      (await run('fish', ['--no-config', '-c', `ambientctl completion fish | source; complete -C "${line}"`], { env, cwd: dir })).stdout;
    expect(await ask('ambientctl sho')).toBe("show\tprint a session's transcript\n");
    expect(await ask('ambientctl show --verb')).toMatch(/^--verbatim\twhat was heard/);
    expect(await ask('ambientctl show 2026-11-30')).toBe('2026-11-30T1608\tWeekly: plans\n');
    expect(await ask('ambientctl show ')).toMatch(/^last\t.*\nlive\t.*\n2026-11-30T1608\t.*\n2026-11-29T0900\n$/);
    expect(await ask('ambientctl import tal')).toContain('talk.wav');
  });

  /** Types a client's name with a blank in it and toolsets by commas. */
  async function typeLimits(shell: Terminal): Promise<string[]> {
    await shell.type('ambientctl mcp set My\t', /notes.? /);
    await shell.type('--toolset library,a\t', /library.*ssistant /s);
    await shell.type('\r', /\$ $/);
    return (await readFile(path.join(dir, 'ran'), 'utf8')).split('\n').slice(0, -1);
  }
  const LIMITS = ['mcp', 'set', 'My notes', '--toolset', 'library,assistant'];

  it.skipIf(!requireTools(['bash', 'script']))('bash completes a name with a blank, and toolsets by commas', async () => {
    terminal = new Terminal('bash --norc --noprofile -i', env);
    await terminal.type(`PS1='$ '; source <(ambientctl completion bash); echo loa''ded\r`, /loaded\n\$ $/);
    expect(await typeLimits(terminal)).toEqual(LIMITS);
  });

  it.skipIf(!requireTools(['zsh', 'script']))('zsh completes a name with a blank, and toolsets by commas', async () => {
    terminal = new Terminal('zsh -f -i', env);
    await terminal.type(
      "PS1='$ '; autoload -Uz compinit && compinit -u -d $HOME/zd3 && source <(ambientctl completion zsh); echo loa''ded\r",
      /loaded\n.*\$ $/s,
    );
    expect(await typeLimits(terminal)).toEqual(LIMITS);
  });

  it.skipIf(!requireTools(['fish']))('fish completes hosts, clients, toolsets, settings and help', async () => {
    const ask = async (line: string): Promise<string> =>
      (await run('fish', ['--no-config', '-c', `ambientctl completion fish | source; complete -C "${line}"`], { env, cwd: dir })).stdout;
    expect(await ask('ambientctl mcp connect cu')).toBe('cursor\tCursor\n');
    expect(await ask('ambientctl mcp set My')).toMatch(/^My.* notes\ta1b2c3\n$/);
    expect(await ask('ambientctl mcp set x --toolset library,a')).toBe('library,assistant\n');
    expect(await ask('ambientctl config log.level w')).toBe('warn\n');
    expect(await ask('ambientctl help mcp c')).toMatch(/^connect\t/);
  });

  it.skipIf(!requireTools(['bash']))('bash completes file names with spaces', async () => {
    await writeFile(path.join(dir, 'a talk.wav'), '');
    terminal = new Terminal('bash --norc --noprofile -i', env);
    await terminal.type(`PS1='$ '; cd '${dir}'; source <(ambientctl completion bash); echo loa''ded\r`, /loaded\n\$ $/);
    await terminal.type('ambientctl import a\\ t\t', /talk\.wav /);
    await terminal.type('\r', /\$ $/);
    expect(await readFile(path.join(dir, 'ran'), 'utf8')).toBe('import\na talk.wav\n');
  });
});

describe('the man page', () => {
  it('is written by its tool for packaging', async () => {
    const file = path.join(dir, 'packed/ambientctl.1');
    await run(process.execPath, [fileURLToPath(new URL('../../tools/man/build.mjs', import.meta.url)), file]);
    expect(await readFile(file, 'utf8')).toMatch(/^\.TH AMBIENTCTL 1 /);
  });

  it.skipIf(!requireTools(['mandoc']))('is valid, and names every verb', async () => {
    const { stdout } = await run(path.join(dir, 'bin/ambientctl'), ['completion', 'install', 'bash'], { env });
    expect(stdout).toContain('man/man1/ambientctl.1');
    const page = path.join(dir, 'data/man/man1/ambientctl.1');
    expect((await run('mandoc', ['-T', 'lint', '-W', 'warning', page])).stdout).toBe('');
    const { stdout: text } = await run('mandoc', ['-T', 'utf8', page]);
    const plainText = text.replace(/.\u0008/g, '');
    for (const verb of values(await complete('')).filter((name) => name !== 'help'))
      expect(plainText).toMatch(new RegExp(`^ +${verb}\\b`, 'm'));
    expect(plainText).toContain('daemon install');
    expect(plainText).toContain('--split-channels');
    expect(plainText).not.toContain('__complete');
  });
});
