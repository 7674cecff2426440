import { execFileSync } from 'node:child_process';
import { chmod, mkdir, open, readFile, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import type { McpClient } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavHeader } from '../../services/daemon/src/sessions/wav.js';
import { until } from '../audio/kit.js';
import { ambientctl } from '../cli/support/ambientctl.js';
import { sessionFile } from '../cli/support/samples.js';
import { type DoctorKit, openDoctorKit, type Report, said } from './kit.js';

const ROOM = fileURLToPath(new URL('../fixtures/conversation/room.wav', import.meta.url));
const sqlite = createRequire(new URL('../../services/daemon/package.json', import.meta.url));
type Sqlite = new (file: string) => { exec(sql: string): void; close(): void };

let kit: DoctorKit;
let client: AmbientClient;

beforeAll(async () => {
  // No sound server: the devices of the machine are no part of these tests.
  kit = await openDoctorKit({ PULSE_SERVER: `unix:${path.join(os.tmpdir(), 'no-such-server')}`, AMBIENT_DISK_LOW_MB: '999999999' });
  client = new AmbientClient(kit.paths.controlSocket);
});
afterAll(() => kit.remove());

/** Faults that are not of the machine's devices. */
function faults(report: Report): string[] {
  return report.faults.filter((id) => !id.startsWith('recorder.'));
}

async function addSession(id: string, change: Parameters<typeof sessionFile>[0], seconds = 0): Promise<void> {
  const dir = path.join(kit.paths.sessions, id);
  await mkdir(path.join(dir, 'audio'), { recursive: true, mode: 0o700 });
  const samples = seconds * 16_000;
  if (seconds > 0) await writeFile(path.join(dir, 'audio/room.wav'), Buffer.concat([wavHeader(samples), Buffer.alloc(samples * 2)]));
  await writeFile(path.join(dir, 'session.json'), JSON.stringify(sessionFile({ id, duration_s: seconds, ...change })));
}

/** Where the hosts keep what `mcp connect` writes. */
const FILES = {
  'claude-code': '.claude.json',
  cursor: '.cursor/mcp.json',
  codex: '.codex/config.toml',
  vscode: process.platform === 'darwin' ? 'Library/Application Support/Code/User/mcp.json' : '.config/Code/User/mcp.json',
  gemini: '.gemini/settings.json',
  zed: '.config/zed/settings.json',
  opencode: '.config/opencode/opencode.json',
} as const;

async function edit(host: keyof typeof FILES, change: (text: string) => string): Promise<void> {
  const file = path.join(kit.user, FILES[host]);
  const text = await readFile(file, 'utf8');
  if (change(text) === text) throw new Error(`nothing to change in ${text}`);
  await writeFile(file, change(text));
}

const CUT = '2026-01-01T0900';
const GARBAGE = '2026-01-01T1000';
const WAITING = '2026-01-01T1100';
const LATE = '2026-01-01T1200';

let clients: readonly McpClient[] = [];
const profile = (host: string): string => clients.find((one) => one.host === host)?.id ?? '';

describe('doctor', () => {
  it('finds a home all well whose hosts are connected', async () => {
    await kit.run('daemon', 'start');
    await kit.run('mcp', 'enable');
    for (const host of Object.keys(FILES)) await kit.run('mcp', 'connect', host, '--credential', 'file');
    ({ clients } = await client.call('mcp', {}));
    const report = await kit.doctor();
    expect(faults(report)).toEqual(['disk']);
    expect(said(report.get('disk'))).toMatch(/MiB free.*less than 999999999 MiB.*Free some space/);
    expect(report.get('mcp').detail).toBe('On; 7 may connect.');
    for (const host of Object.keys(FILES)) expect(report.get(`mcp.host.${host}`).detail).toMatch(/starts .*ambient-mcp\.js/);
  });

  describe('of a home in which much is wrong', () => {
    let report: Report;
    const host = (name: string): string => said(report.get(`mcp.host.${name}`));

    beforeAll(async () => {
      await breakHosts();
      await kit.run('daemon', 'stop');
      await expireClient(profile('claude-code'));
      await writeFile(kit.paths.config, JSON.stringify({ 'mcp.enabled': false, nosuch: 1 }), { mode: 0o600 });
      await writeFile(`${kit.paths.library}.corrupt-20260101T000000000Z`, '');
      await writeFile(path.join(kit.paths.mcp, 'clients.json.broken-1'), '');
      await addSession(CUT, { state: 'interrupted', interrupted_at: '2026-01-01T09:10:00Z' });
      expect((await ambientctl(kit.paths.home, ['daemon', 'start'], { env: { ...kit.env, TZ: 'No/Where' } })).code).toBe(0);
      await mkdir(path.join(kit.paths.sessions, GARBAGE));
      await writeFile(path.join(kit.paths.sessions, GARBAGE, 'session.json'), 'garbage');
      await addSession(WAITING, { state: 'pending', started_at: '2026-01-01T11:00:00Z', ended_at: '2026-01-01T11:00:02Z' }, 2);
      const trash = path.join(kit.paths.sessions, '.trash-0123456789abcdef');
      await mkdir(trash);
      await utimes(trash, 1_600_000_000, 1_600_000_000);
      // A transcript that becomes complete is followed by a look for audio that is past its time.
      await kit.run('start', '--room-file', ROOM, '--seconds', '1', '--pace', 'fast');
      await until(async () => (await kit.doctor()).get('retention').status === 'warning', 'the look for overdue audio');
      // While another program writes to the library, what is new cannot be indexed.
      const library = openLibrary();
      library.exec('BEGIN IMMEDIATE');
      await addSession(LATE, { state: 'done' });
      report = await kit.doctor();
      library.exec('ROLLBACK');
      library.close();
    });

    it('names everything, once, and exits 1', () => {
      expect(faults(report).sort()).toEqual(
        [
          'clock config disk home.contents home.credentials library library.copies mcp mcp.copies mcp.expired',
          ...Object.keys(FILES).map((name) => `mcp.host.${name}`),
          'retention sessions sessions.trash sessions.unfinished',
        ]
          .join(' ')
          .split(' ')
          .sort(),
      );
      expect(report.code).toBe(1);
    });

    it('says of each host what keeps it from connecting, and what to do', () => {
      expect(host('claude-code')).toMatch(/profile \w+ is expired\. -> Run `ambientctl mcp connect claude-code`/);
      expect(host('cursor')).toMatch(/profile \w+ is revoked\. -> Run `ambientctl mcp connect cursor`/);
      expect(host('codex')).toMatch(/its command is `node`, which a host started from the desktop does not find/);
      expect(host('vscode')).toMatch(/it starts \/gone\/ambient-mcp\.js, which is not there/);
      expect(host('gemini')).toMatch(/its profile nosuchprofile does not exist/);
      expect(host('zed')).toMatch(/settings\.json:\d+:\d+: .*Correct the file/);
      expect(host('opencode')).toMatch(/Refusing .*other users may read it/);
      expect(said(report.get('home.credentials'))).toMatch(/mode 644/);
      expect(said(report.get('mcp.expired'))).toMatch(/Claude Code \(\w+\).*ambientctl mcp (connect|revoke)/);
      expect(said(report.get('mcp.copies'))).toMatch(/clients\.json\.broken-1.*mcp connect/);
      expect(said(report.get('mcp'))).toMatch(/It is off, and .*Codex.* may connect.*mcp enable/);
    });

    it('says which sessions are broken, unfinished, half deleted or overdue, and which were only interrupted', () => {
      expect(said(report.get('sessions'))).toMatch(
        new RegExp(`${GARBAGE} \\(session\\.json is not valid JSON\\).*ambientctl delete ${GARBAGE}`),
      );
      expect(said(report.get('sessions.unfinished'))).toMatch(new RegExp(`Nobody works on the text of ${WAITING}.*daemon restart`));
      expect(said(report.get('sessions.trash'))).toMatch(/1 deletion did not come to an end.*daemon restart/);
      expect(said(report.get('retention'))).toMatch(new RegExp(`Past its time and kept.*${WAITING}`));
      expect(report.get('sessions.interrupted')).toMatchObject({ status: 'ok', detail: expect.stringContaining(CUT) });
    });

    it('says what is the matter with the library, the settings and the clock', () => {
      expect(said(report.get('library'))).toMatch(new RegExp(`1 of 4 sessions cannot be found by search: ${LATE}.*library rebuild`));
      expect(said(report.get('library.copies'))).toMatch(/corrupt-20260101T000000000Z/);
      expect(said(report.get('config'))).toMatch(/nosuch/);
      expect(said(report.get('clock'))).toMatch(/TZ is No\/Where, which is no time zone: sessions are named by UTC/);
    });

    it('is content when all has been done that it said', async () => {
      await rm(path.join(kit.user, FILES.zed));
      execFileSync('chmod', ['-R', 'go=', kit.paths.home]);
      await chmod(path.join(kit.paths.credentials, profile('opencode')), 0o600);
      for (const name of Object.keys(FILES)) await kit.run('mcp', 'connect', name, '--credential', 'file');
      await kit.run('mcp', 'enable');
      await kit.run('delete', GARBAGE, '--yes');
      await kit.run('library', 'rebuild');
      await rm(`${kit.paths.library}.corrupt-20260101T000000000Z`, { force: true });
      await rm(path.join(kit.paths.mcp, 'clients.json.broken-1'));
      await writeFile(kit.paths.config, JSON.stringify({ 'mcp.enabled': true }), { mode: 0o600 });
      await kit.run('daemon', 'restart');
      await until(async () => (await client.call('status', {})).awaiting_transcript === 0, 'the transcript that waited');
      expect(faults(await kit.doctor())).toEqual(['disk']);
    });
  });

  it('names damage in the library while the daemon runs, and a rebuild mends it', async () => {
    const { size } = await stat(kit.paths.library);
    // What is in the write-ahead log would hide the damage.
    const library = openLibrary();
    library.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    library.close();
    const file = await open(kit.paths.library, 'r+');
    await file.write(Buffer.alloc(Math.max(4096, size - 4096), 0xa5), 0, undefined, 4096);
    await file.close();
    const report = await kit.doctor();
    expect(said(report.get('library'))).toMatch(/library\.db (is damaged|cannot be read): .*library rebuild/);
    expect(report.code).toBe(1);
    await kit.run('library', 'rebuild');
  });

  it('names a session in which lines are damaged, and their file', async () => {
    const { sessions } = await client.call('sessions', { query: {} });
    const { id, dir } = sessions.find(({ state }) => state === 'done') ?? { id: '', dir: '' };
    const file = path.join(dir, 'raw.jsonl');
    const before = await readFile(file, 'utf8').catch(() => '');
    await writeFile(file, `garbage\n{}\n${before}`, { mode: 0o600 });
    const report = await kit.doctor();
    expect(said(report.get('sessions.damaged'))).toMatch(
      new RegExp(`${id}: 2 lines of raw\\.jsonl .*lines 1, 2.*Restore that file of ${dir}`),
    );
    await writeFile(file, before);
    expect(faults(await kit.doctor())).not.toContain('sessions.damaged');
  });

  it('names settings that were changed by hand under the daemon', async () => {
    await writeFile(kit.paths.config, JSON.stringify({ 'mcp.enabled': true, 'transcription.threads': 3 }), { mode: 0o600 });
    const report = await kit.doctor();
    expect(faults(report).filter((id) => id !== 'library.copies')).toEqual(['config', 'disk']);
    expect(said(report.get('config'))).toMatch(/Changed in .*: transcription\.threads.*daemon restart/);
    expect((await kit.run('status')).stdout).toMatch(/Warning +Changed in .*: transcription\.threads.*daemon restart/);
    expect((await kit.run('config', 'log.level')).stderr).toMatch(/Warning: Changed in .*: transcription\.threads.*daemon restart/);
  });

  it('names settings that no longer can be read, and a daemon in another time zone than the terminal', async () => {
    await writeFile(kit.paths.config, '{"transcription.threads": ', { mode: 0o600 });
    const { code, stdout } = await ambientctl(kit.paths.home, ['doctor', '--json'], { env: { ...kit.env, TZ: 'Asia/Tokyo' } });
    const { checks } = JSON.parse(stdout) as Report;
    const detail = (wanted: string): string | undefined => checks.find(({ id }) => id === wanted)?.detail;
    expect(detail('config')).toMatch(/is not valid JSON at line 1/);
    expect(detail('clock.zone')).toMatch(/here it is Asia\/Tokyo \(\+09:00\)/);
    expect(code).toBe(1);
    await rm(kit.paths.config);
  });

  it('names a daemon that holds the home although its socket is gone', async () => {
    const { pid } = await client.call('status', {});
    // Else it would make the socket again.
    process.kill(pid, 'SIGSTOP');
    await unlink(kit.paths.controlSocket);
    const report = await kit.doctor();
    expect(said(report.get('daemon'))).toMatch(new RegExp(`Process ${pid} holds the home.*ambientctl daemon stop`));
    expect(report.code).toBe(1);
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGTERM');
    await until(async () => (await kit.doctor()).get('daemon').detail.startsWith('not running'), 'the end of the daemon');
  });
});

/** One fault for each host. */
async function breakHosts(): Promise<void> {
  const shim = /"([^"]*ambient-mcp\.js)"/.exec(await readFile(path.join(kit.user, FILES.vscode), 'utf8'))?.[1] ?? '';
  await kit.run('mcp', 'revoke', profile('cursor'));
  await edit('codex', (text) => text.replace(/^command = .*$/m, 'command = "node"'));
  await edit('vscode', (text) => text.replace(shim, '/gone/ambient-mcp.js'));
  await edit('gemini', (text) => text.replace(profile('gemini'), 'nosuchprofile'));
  await edit('zed', (text) => text.trimEnd().slice(0, -1));
  await chmod(path.join(kit.paths.credentials, profile('opencode')), 0o644);
}

/** As if the client had been made a hundred days ago and never been used. */
async function expireClient(id: string): Promise<void> {
  const file = path.join(kit.paths.mcp, 'clients.json');
  const stored = JSON.parse(await readFile(file, 'utf8')) as { clients: { id: string; created_at: string }[] };
  for (const one of stored.clients) if (one.id === id) one.created_at = new Date(Date.now() - 100 * 86_400_000).toISOString();
  await writeFile(file, JSON.stringify(stored));
}

function openLibrary() {
  return new (sqlite('better-sqlite3') as Sqlite)(kit.paths.library);
}
