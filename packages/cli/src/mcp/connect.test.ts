import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { shimPath } from '@ambient/mcp-shim';
import { parse as parseToml } from '@decimalturn/toml-patch';
import { parse as parseJson } from 'jsonc-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StubControl } from '../../test/stub-control.js';
import { run } from '../run.js';
import { valueAt } from './config/document.js';

let folder: string;
let home: string;
let control: StubControl;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'am-'));
  home = path.join(folder, 'h');
  control = new StubControl(home);
  await control.start();
});

afterEach(async () => {
  await control.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ambientctl(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  const code = await run(argv, {
    stdin: Readable.from([]),
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    env: { HOME: folder, AMBIENT_HOME: home, PATH: '/nonexistent' },
    cwd: folder,
  });
  return { code, stdout, stderr };
}

const connect = (host: string, ...more: string[]) => ambientctl('mcp', 'connect', host, '--credential', 'file', ...more);

const linux = process.platform !== 'darwin';
const HOSTS: [host: string, file: string, at: string[], existing: string][] = [
  [
    'claude-desktop',
    linux ? '.config/Claude/claude_desktop_config.json' : 'Library/Application Support/Claude/claude_desktop_config.json',
    ['mcpServers', 'ambient'],
    '{\n  "globalShortcut": "",\n  "mcpServers": {\n    "files": {"command": "npx"}\n  }\n}\n',
  ],
  ['claude-code', '.claude.json', ['mcpServers', 'ambient'], '{"numStartups":7,"projects":{"/x":{"mcpServers":{}}}}'],
  ['cursor', '.cursor/mcp.json', ['mcpServers', 'ambient'], '{\n\t"mcpServers": {}\n}'],
  [
    'vscode',
    linux ? '.config/Code/User/mcp.json' : 'Library/Application Support/Code/User/mcp.json',
    ['servers', 'ambient'],
    '{\r\n    // servers\r\n    "servers": {\r\n        "a": { "url": "https://x" }, // remote\r\n    },\r\n    "inputs": []\r\n}\r\n',
  ],
  ['codex', '.codex/config.toml', ['mcp_servers', 'ambient'], '# mine\nmodel = "x"\n\n[mcp_servers.docs] # d\ncommand = "npx"\n'],
  ['gemini', '.gemini/settings.json', ['mcpServers', 'ambient'], '{\n  "theme": "Default"\n}\n'],
  ['zed', '.config/zed/settings.json', ['context_servers', 'ambient'], '// Zed settings\n//\n{\n  "ui_font_size": 16, // big\n}\n'],
  ['opencode', '.config/opencode/opencode.json', ['mcp', 'servers', 'ambient'], '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'],
];

function entryIn(file: string, at: readonly string[]): Record<string, unknown> {
  const text = readFileSync(file, 'utf8');
  const value = file.endsWith('.toml') ? parseToml(text) : parseJson(text, [], { allowTrailingComma: true });
  return valueAt(value, at) as Record<string, unknown>;
}

describe.each(HOSTS)('mcp connect %s', (host, relative, at, existing) => {
  const words = (entry: Record<string, unknown>): unknown[] => [entry.command, entry.args ?? []].flat();

  it('makes the file where there is none, and disconnecting takes it away', async () => {
    const file = path.join(folder, relative);
    expect(await connect(host)).toMatchObject({ code: 0 });
    const [client] = control.clients;
    const entry = entryIn(file, at);
    expect(words(entry)).toEqual([process.execPath, shimPath(), '--profile', client?.id]);
    expect(entry.env ?? entry.environment).toEqual({ AMBIENT_HOME: home });
    expect(client).toMatchObject({ host, access: 'enabled' });
    expect(await ambientctl('mcp', 'disconnect', host)).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
  });

  it('merges into an existing file, a second time changes nothing, and disconnecting restores it byte for byte', async () => {
    const file = path.join(folder, relative);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, existing);
    chmodSync(file, 0o644);

    expect((await connect(host)).code).toBe(0);
    const connected = readFileSync(file, 'utf8');
    const profile = control.clients[0]?.id ?? '';
    expect(connected).toContain(profile);
    expect(connected).not.toContain('secret-');
    for (const line of existing.split(/\r?\n/)) if (/\/\/|#|command/.test(line)) expect(connected).toContain(line.replace(/,$/, ''));
    const backups = readdirSync(path.dirname(file)).filter((name) => name.includes('.ambient-backup-'));
    expect(backups).toHaveLength(1);
    expect(readFileSync(path.join(path.dirname(file), backups[0] ?? ''), 'utf8')).toBe(existing);
    const credential = path.join(home, 'credentials', profile);
    expect(readFileSync(credential, 'utf8')).toBe(`secret-${profile}\n`);
    expect(statSync(credential).mode & 0o777).toBe(0o600);

    const again = await connect(host);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was changed') });
    expect(readFileSync(file, 'utf8')).toBe(connected);
    expect(readdirSync(path.dirname(file)).filter((name) => name.includes('.ambient-backup-'))).toHaveLength(1);
    expect(control.calls).toEqual(['POST /v1/mcp/clients']);

    expect((await ambientctl('mcp', 'disconnect', host)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(existing);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(control.clients[0]?.revoked_at).not.toBeNull();
    expect(existsSync(credential)).toBe(false);
  });

  it('keeps what others changed since, when disconnecting', async () => {
    const file = path.join(folder, relative);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, existing);
    await connect(host);
    const added = file.endsWith('.toml') ? '\n[later]\nx = 1\n' : '\n// later\n';
    writeFileSync(file, readFileSync(file, 'utf8') + added);
    expect((await ambientctl('mcp', 'disconnect', host)).code).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(added.trim());
    expect(text).not.toContain('ambient-mcp');
  });

  it('with --print shows it on stdout and touches nothing', async () => {
    const { code, stdout, stderr } = await connect(host, '--print');
    expect(code).toBe(0);
    const value = relative.endsWith('.toml') ? parseToml(stdout) : JSON.parse(stdout);
    expect(words(valueAt(value, at) as Record<string, unknown>)).toEqual([process.execPath, shimPath(), '--profile', 'PROFILE-ID']);
    expect(stderr).toContain(path.basename(relative));
    expect(existsSync(path.join(folder, relative))).toBe(false);
    expect(control.calls).toEqual([]);
  });
});

describe('mcp connect', () => {
  const file = (): string => path.join(folder, '.cursor', 'mcp.json');
  const write = (text: string): void => {
    mkdirSync(path.dirname(file()), { recursive: true });
    writeFileSync(file(), text);
  };

  it('refuses a broken file with the position, and makes no profile', async () => {
    write('{\n  "mcpServers": {,}\n}');
    const { code, stderr } = await connect('cursor');
    expect(code).toBe(1);
    expect(stderr).toContain(`${file()}:2:18:`);
    expect(readdirSync(path.dirname(file()))).toEqual(['mcp.json']);
    expect(control.calls).toEqual([]);
  });

  it('keeps what the user added to the entry, and follows a moved installation', async () => {
    await connect('cursor');
    const text = readFileSync(file(), 'utf8');
    write(text.replace(process.execPath, '/old/node').replace('"env": {', '"disabled": true,\n      "env": {\n        "LOG": "1",'));
    expect((await connect('cursor')).code).toBe(0);
    expect(entryIn(file(), ['mcpServers', 'ambient'])).toMatchObject({
      command: process.execPath,
      disabled: true,
      env: { LOG: '1', AMBIENT_HOME: home },
    });
    expect(control.clients).toHaveLength(1);
  });

  it.each([
    ['was revoked', () => Object.assign(control.clients[0] ?? {}, { revoked_at: new Date().toISOString() })],
    ['has expired', () => Object.assign(control.clients[0] ?? {}, { expires_at: '2020-01-01T00:00:00Z' })],
    ['lost its credential', () => rmSync(path.join(home, 'credentials'), { recursive: true })],
  ])('makes a new profile when the old one %s', async (_name, spoil) => {
    await connect('cursor');
    spoil();
    expect((await connect('cursor')).code).toBe(0);
    expect(control.clients).toHaveLength(2);
    expect(control.clients[0]?.revoked_at === null && _name !== 'has expired').toBe(false);
    expect(readFileSync(file(), 'utf8')).toContain(control.clients[1]?.id);
    expect(readdirSync(path.join(home, 'credentials'))).toEqual([control.clients[1]?.id]);
  });

  const expire = () => Object.assign(control.clients[0] ?? {}, { expires_at: '2020-01-01T00:00:00Z' });
  const LOST: [string, () => unknown, RegExp][] = [
    ['was revoked', () => Object.assign(control.clients[0] ?? {}, { revoked_at: new Date().toISOString() }), /which was revoked/],
    ['has expired', expire, /which has expired/],
    ['lost its credential', () => rmSync(path.join(home, 'credentials'), { recursive: true }), /last profile p\w+\./],
    ['lost its entry', () => write('{}'), /last profile p\w+\./],
    ['was disconnected', () => ambientctl('mcp', 'disconnect', 'cursor'), /which was revoked/],
  ];
  it.each(LOST)('takes the limits over from the last profile when it %s, and says so', async (_name, spoil, origin) => {
    await connect('cursor', '--toolset', 'sessions', '--tag', 'work', '--name', 'Desk');
    await ambientctl('mcp', 'set', 'cursor', '--access', 'disabled');
    await spoil();
    const { code, stdout } = await connect('cursor');
    expect(code).toBe(0);
    const [old, made] = control.clients;
    expect(made).toMatchObject({ name: 'Desk', access: 'disabled', toolsets: ['sessions'], scope: { tags: ['work'] } });
    expect(stdout).toMatch(origin);
    expect(stdout).toContain(`ambientctl mcp set ${made?.id} --access enabled`);
    expire();
    const json = JSON.parse((await connect('cursor', '--json')).stdout);
    expect(json).toMatchObject({ limits: { access: 'disabled', toolsets: ['sessions'] }, limits_from: null });
    expect(old?.id).not.toBe(made?.id);
  });

  it('gives a new profile what the options say, the rest as before, and never more unasked', async () => {
    await connect('cursor', '--toolset', 'sessions', '--tag', 'work', '--since', '2026-01-01');
    expire();
    const { stdout } = await connect('cursor', '--tag', 'home');
    expect(stdout).toContain('as given here, the others taken over');
    expect(control.clients[1]).toMatchObject({
      access: 'enabled',
      toolsets: ['sessions'],
      scope: { tags: ['home'], since: new Date(2026, 0, 1).toISOString() },
    });
    await connect('cursor', '--all-sessions');
    expect(control.clients[1]).toMatchObject({ toolsets: ['sessions'], scope: { tags: [], since: null } });
  });

  it('says that the limits of a profile nobody knows any more are lost', async () => {
    await connect('cursor', '--tag', 'work');
    const [old] = control.clients.splice(0);
    const { stderr } = await connect('cursor');
    expect(stderr).toContain(`${old?.id} that the entry named is not known here`);
    expect((await connect('cursor')).stderr).not.toContain('not known here');
  });

  it('leaves an entry of another program alone, and replaces it with --replace, which says where it is kept', async () => {
    const text = '{"mcpServers":{"ambient":{"command":"/Applications/Other.app/ambient","args":["mcp"]}}}';
    write(text);
    expect(await connect('cursor')).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') });
    expect(readFileSync(file(), 'utf8')).toBe(text);
    expect(control.calls).toEqual([]);
    const { stdout } = await connect('cursor', '--replace');
    expect(stdout).toMatch(/has been replaced; .*\.ambient-backup-\S+ holds it/);
    expect(JSON.parse(readFileSync(file(), 'utf8')).mcpServers.ambient).toMatchObject({ command: process.execPath });
    expect((await ambientctl('mcp', 'disconnect', 'cursor')).code).toBe(0);
  });

  it('says which limits a second run changed', async () => {
    await connect('cursor');
    const before = readFileSync(file(), 'utf8');
    const { stdout } = await connect('cursor', '--toolset', 'sessions', '--tag', 'work', '--access', 'enabled');
    expect(stdout).toContain('Changed: tools sessions; sees tagged work.');
    expect(stdout).not.toContain('Nothing was changed');
    expect(readFileSync(file(), 'utf8')).toBe(before);
    const json = JSON.parse((await connect('cursor', '--tag', 'home', '--json')).stdout);
    expect(json).toMatchObject({ changed: false, limits_changed: ['sees tagged home'] });
    expect((await connect('cursor', '--tag', 'home')).stdout).toContain('Nothing was changed');
  });

  it('takes a token out of our entry, and says that the backup, for its owner alone, holds it still', async () => {
    await connect('cursor');
    const secret = 'token-in-clear';
    write(readFileSync(file(), 'utf8').replace('"env": {', `"env": {\n        "AMBIENT_MCP_TOKEN": "${secret}",\n        "LOG": "1",`));
    chmodSync(file(), 0o644);
    const { code, stderr, stdout } = await connect('cursor');
    expect(code).toBe(0);
    expect(stderr).toContain('held a token');
    expect(stdout + stderr).not.toContain(secret);
    expect(entryIn(file(), ['mcpServers', 'ambient']).env).toEqual({ LOG: '1', AMBIENT_HOME: home });
    const folder = path.dirname(file());
    const holding = readdirSync(folder).filter((name) => readFileSync(path.join(folder, name), 'utf8').includes(secret));
    expect(holding).toHaveLength(1);
    expect(statSync(path.join(folder, holding[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  it.each([
    '{"mcpServers":{"ambient":{"command":"ambient-mcp","env":{"AMBIENT_MCP_TOKEN":"t"}}}}',
    '{\n  "mcpServers": {\n    "ambient": {\n      "url": "http://x" // remote\n    }\n  }\n}\n',
    '{"mcpServers":{"ambient":{"url":"http://x","headers":{"a":"b","c":"d"}}}}',
  ])('edits an entry without arguments: %s', async (text) => {
    write(text);
    expect((await connect('cursor', '--replace')).code).toBe(0);
    expect(entryIn(file(), ['mcpServers', 'ambient'])).toEqual({
      command: process.execPath,
      args: [shimPath(), '--profile', control.clients[0]?.id],
      env: { AMBIENT_HOME: home },
    });
  });

  it.each(['env = { LOG = "1" }', '[mcp_servers.ambient.env]\nLOG = "1"', 'env.LOG = "1"'])(
    'keeps the variables of an entry in TOML: %s',
    async (env) => {
      const config = path.join(folder, '.codex/config.toml');
      mkdirSync(path.dirname(config));
      writeFileSync(config, `[mcp_servers.ambient]\ncommand = "ambient-mcp"\n${env}\n`);
      expect((await connect('codex')).code).toBe(0);
      expect(entryIn(config, ['mcp_servers', 'ambient']).env).toEqual({ LOG: '1', AMBIENT_HOME: home });
    },
  );

  it('revokes the profile of an entry that was replaced by hand, and says so', async () => {
    await connect('cursor');
    const [old] = control.clients;
    write('{"mcpServers":{}}');
    expect((await connect('cursor')).stdout).toContain(`The earlier profile ${old?.id} is revoked.`);
    expect(old?.revoked_at).not.toBeNull();
    expect(readdirSync(path.join(home, 'credentials'))).toEqual([control.clients[1]?.id]);
  });

  it('refuses a read-only file before a profile exists, and warns of a second name of the file', async () => {
    write('{}');
    chmodSync(file(), 0o444);
    expect(await connect('cursor')).toMatchObject({ code: 1, stderr: expect.stringContaining(`chmod u+w '${file()}'`) });
    expect(control.calls).toEqual([]);
    chmodSync(file(), 0o644);
    linkSync(file(), path.join(folder, 'other.json'));
    expect(await connect('cursor')).toMatchObject({ code: 0, stderr: expect.stringContaining('hard link') });
    expect(readFileSync(path.join(folder, 'other.json'), 'utf8')).toBe('{}');
  });

  it('names the entry of Claude Code before the variables, which would take it for one of theirs', async () => {
    expect((await connect('claude-code', '--print')).stderr).toContain(
      `claude mcp add ambient --scope user --env AMBIENT_HOME=${home} -- ${process.execPath}`,
    );
  });

  it('labels what holds no real profile as a template, and shows no link that would not work', async () => {
    expect((await connect('vscode', '--print')).stderr).toMatch(
      /Template of the same by the host's own means: code --add-mcp .*PROFILE-ID/s,
    );
    const before = await connect('cursor', '--print', '--json');
    expect(JSON.parse(before.stdout).by_hand).toEqual([]);
    expect(before.stderr).not.toContain('cursor://');
    await connect('cursor');
    const link = /cursor:\/\/\S+/.exec((await connect('cursor', '--print')).stderr.replaceAll('\n', ''))?.[0] ?? '';
    const config = Buffer.from(new URL(link).searchParams.get('config') ?? '', 'base64').toString();
    expect(JSON.parse(config).args).toContain(control.clients[0]?.id);
  });

  it('leaves an entry of another program alone when disconnecting', async () => {
    const text = '{"mcpServers":{"ambient":{"command":"/Applications/Other.app/ambient","args":["mcp"]}}}';
    write(text);
    expect(await ambientctl('mcp', 'disconnect', 'cursor')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not ours to remove'),
    });
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  it('takes the profile back when the file cannot be written', async () => {
    mkdirSync(path.join(home, 'credentials'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(folder, '.cursor'), 'in the way');
    const { code } = await connect('cursor');
    expect(code).toBe(1);
    expect(control.clients.every(({ revoked_at }) => revoked_at !== null)).toBe(true);
    expect(readdirSync(path.join(home, 'credentials'))).toEqual([]);
  });

  it('passes limits on, and changes them on a second run without a second profile', async () => {
    await connect('cursor', '--access', 'trusted', '--toolset', 'sessions,assistant', '--tag', 'work', '--since', '2026-01-01');
    expect(control.clients[0]).toMatchObject({
      access: 'trusted',
      toolsets: ['sessions', 'assistant'],
      scope: { tags: ['work'], since: new Date(2026, 0, 1).toISOString(), sessions: [] },
    });
    await connect('cursor', '--access', 'enabled');
    expect(control.clients).toHaveLength(1);
    expect(control.clients[0]).toMatchObject({ access: 'enabled', scope: { tags: ['work'] } });
  });

  it('names the known hosts when it does not know one', async () => {
    expect(await connect('claude')).toMatchObject({ code: 2, stderr: expect.stringContaining('claude-desktop') });
    expect(await connect('cursr')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean cursor?') });
  });

  it('uses the layout of opencode 1 where its servers are', async () => {
    const config = path.join(folder, '.config/opencode/opencode.jsonc');
    mkdirSync(path.dirname(config), { recursive: true });
    writeFileSync(config, '{\n  "mcp": {\n    "a": { "type": "local", "command": ["x"] } // a\n  }\n}\n');
    await connect('opencode');
    expect(entryIn(config, ['mcp', 'ambient'])).toMatchObject({
      type: 'local',
      enabled: true,
      command: [process.execPath, shimPath(), '--profile', expect.any(String)],
    });
  });
});

describe('mcp', () => {
  it('takes a session by any name, keeps its id, and refuses one that is not there', async () => {
    control.sessions.set('last', '2026-11-30T1608');
    control.sessions.set('Stand-up', '2026-11-30T1608');
    expect((await ambientctl('mcp', 'token', 'create', '--name', 'n', '--session', 'last', '--session', 'Stand-up')).code).toBe(0);
    expect(control.clients[0]?.scope.sessions).toEqual(['2026-11-30T1608']);
    for (const argv of [
      ['token', 'create', '--name', 'm', '--session', 'nowhere'],
      ['set', 'n', '--session', 'nowhere'],
      ['connect', 'cursor', '--session', 'nowhere'],
    ])
      expect(await ambientctl('mcp', ...argv)).toMatchObject({ code: 1, stderr: expect.stringContaining('no session nowhere') });
    expect(control.clients).toHaveLength(1);
    expect(control.clients[0]?.scope.sessions).toEqual(['2026-11-30T1608']);
  });

  it('says that an age given to --since is a fixed moment from then on', async () => {
    const { stderr } = await ambientctl('mcp', 'token', 'create', '--name', 'n', '--since', '7d');
    expect(stderr).toMatch(/since \d{4}-\d\d-\d\d \d\d:\d\d, fixed/);
    expect((await ambientctl('mcp', 'set', '--help')).stdout).toMatch(/once\s+and\s+for\s+all/);
  });

  it('status counts the clients that may connect, and names those switched off', async () => {
    control.enabled = true;
    for (const name of ['on', 'off', 'gone', 'old']) await ambientctl('mcp', 'token', 'create', '--name', name);
    await ambientctl('mcp', 'set', 'off', '--access', 'disabled');
    await ambientctl('mcp', 'revoke', 'gone');
    Object.assign(control.clients[3] ?? {}, { expires_at: '2020-01-01T00:00:00Z' });
    const { stdout } = await ambientctl('mcp', 'status');
    expect(stdout).toContain('1 client may connect');
    expect(stdout).toContain('Switched off: off.');
  });

  it('revoke takes the credential away with the access', async () => {
    await connect('cursor');
    expect((await ambientctl('mcp', 'revoke', 'cursor')).code).toBe(0);
    expect(readdirSync(path.join(home, 'credentials'))).toEqual([]);
  });

  it('token create prints the token alone on stdout, and how to use it beside it', async () => {
    control.sessions.set('s1', 's1');
    const { stdout, stderr } = await ambientctl('mcp', 'token', 'create', '--name', 'notes', '--session', 's1');
    expect(stdout).toBe(`secret-${control.clients[0]?.id}\n`);
    expect(stderr).toContain('AMBIENT_MCP_TOKEN');
    expect(stderr).not.toContain('secret-');
    expect(control.clients[0]).toMatchObject({ name: 'notes', host: null, scope: { sessions: ['s1'] } });
  });

  it('set, list and revoke find a client by name, host or prefix', async () => {
    await connect('cursor');
    await ambientctl('mcp', 'token', 'create', '--name', 'Notes');
    const [cursor, notes] = control.clients;
    expect((await ambientctl('mcp', 'set', 'cursor', '--access', 'disabled')).code).toBe(0);
    expect(cursor?.access).toBe('disabled');
    await ambientctl('mcp', 'set', 'notes', '--since', '2026-01-01', '--tag', 'a', '--tag', 'b');
    expect(notes?.scope).toEqual({ tags: ['a', 'b'], since: new Date(2026, 0, 1).toISOString(), sessions: [] });
    await ambientctl('mcp', 'set', 'notes', '--all-sessions');
    expect(notes?.scope).toEqual({ tags: [], since: null, sessions: [] });
    expect(JSON.parse((await ambientctl('mcp', 'list', '--json')).stdout)).toHaveLength(2);
    expect((await ambientctl('mcp', 'revoke', 'cursor', 'nobody')).code).toBe(1);
    expect(cursor?.revoked_at).toBeNull();
    expect((await ambientctl('mcp', 'revoke', cursor?.id.slice(0, 6) ?? '')).code).toBe(0);
    expect(cursor?.revoked_at).not.toBeNull();
    expect(JSON.parse((await ambientctl('mcp', 'list', '--json')).stdout)).toHaveLength(1);
  });

  it('set without a change, a wrong level or toolset is wrong usage', async () => {
    await ambientctl('mcp', 'token', 'create', '--name', 'Notes');
    expect((await ambientctl('mcp', 'set', 'notes')).code).toBe(2);
    expect((await ambientctl('mcp', 'set', 'notes', '--access', 'all')).code).toBe(2);
    expect(await ambientctl('mcp', 'set', 'notes', '--toolset', 'sesions')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean sessions?'),
    });
    expect((await ambientctl('mcp', 'token', 'create')).code).toBe(2);
  });
});
