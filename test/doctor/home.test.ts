import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { sessionFile } from '../cli/support/samples.js';
import { canMount } from '../support/mount.js';
import { type DoctorKit, openDoctorKit, said } from './kit.js';

/** Making a file somebody else's takes root. */
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

let kit: DoctorKit;
beforeEach(async () => {
  kit = await openDoctorKit();
});
afterEach(() => kit.remove());

/** The folders that a daemon makes. */
async function makeHome(): Promise<void> {
  for (const dir of [kit.paths.home, kit.paths.sessions, kit.paths.logs, kit.paths.mcp, kit.paths.run]) await mkdir(dir, { mode: 0o700 });
}

/** A socket file on which nothing listens, as a crash leaves it. */
async function staleSocket(file: string): Promise<void> {
  // Bound elsewhere and left there: closing a server removes the file by its name only.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(file, resolve));
  await rename(file, `${file}.left`);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await rename(`${file}.left`, file);
  await chmod(file, 0o600);
}

describe('doctor without a daemon', () => {
  it('finds nothing wrong but that there is none', async () => {
    const before = await kit.doctor();
    expect(before.faults).toEqual(['daemon']);
    expect(said(before.get('daemon'))).toMatch(/not running.*ambientctl daemon start/);
    expect(before.code).toBe(0);
    await makeHome();
    expect((await kit.doctor()).faults).toEqual(['daemon']);
  });

  it.each([
    [0o755, 'warning', /mode 755: others can look in.*chmod 700/],
    [0o770, 'failure', /mode 770: others can change.*chmod 700/],
    [0o500, 'failure', /cannot be read and written.*chmod u\+rwx/],
  ])('names a home with mode %o', async (mode, status, words) => {
    await makeHome();
    await chmod(kit.paths.home, mode);
    const report = await kit.doctor();
    expect(report.get('home').status).toBe(status);
    expect(said(report.get('home'))).toMatch(words);
    expect(report.code).toBe(status === 'failure' ? 1 : 0);
    await chmod(kit.paths.home, 0o700);
  });

  it('names a variable that nothing reads, with the one that was meant', async () => {
    const report = await kit.doctor({ AMBIENT_TRANSCRIPTION_MODLE: 'x', AMBIENT_LOG_LEVEL: 'info' });
    expect(said(report.get('environment'))).toBe(
      'Nothing reads AMBIENT_TRANSCRIPTION_MODLE. -> Did you mean AMBIENT_TRANSCRIPTION_MODEL? Unset AMBIENT_TRANSCRIPTION_MODLE.',
    );
    expect(report.code).toBe(0);
  });

  it.skipIf(!canMount())('names a read-only disk, with a home on it and without', async () => {
    await mkdir(kit.paths.home, { mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k,mode=700', 'tmpfs', kit.paths.home]);
    const report = await kit.doctor();
    const inside = await runHere(path.join(kit.paths.home, 'x/y'), ['doctor', '--json'], { env: kit.env });
    const started = await runHere(kit.paths.home, ['daemon', 'start'], { env: kit.env });
    execFileSync('umount', [kit.paths.home]);
    expect(said(report.get('home'))).toMatch(/lies on a read-only disk\. -> Mount it for writing .*AMBIENT_HOME/);
    expect(inside.stdout).toMatch(/y cannot be made: [^ ]*h lies on a read-only disk\./);
    expect([report.code, inside.code, started.code]).toEqual([1, 1, 1]);
    expect(started.stderr).toMatch(/^ambientctl: [^\n]*read-only[^\n]*AMBIENT_HOME[^\n]*$/m);
  });

  it('names sessions that others can read, and a file in the place of the home', async () => {
    await makeHome();
    await chmod(kit.paths.sessions, 0o755);
    expect(said((await kit.doctor()).get('home.contents'))).toMatch(/Others can read .*sessions \(mode 755\).*chmod -R go=/);
    await rm(kit.paths.home, { recursive: true });
    await writeFile(kit.paths.home, '');
    const report = await kit.doctor();
    expect(said(report.get('home'))).toMatch(/is not a folder/);
    expect(report.code).toBe(1);
    await rm(kit.paths.home);
  });

  it('names a link in the place of the sessions', async () => {
    await makeHome();
    await rm(kit.paths.sessions, { recursive: true });
    await symlink(kit.user, kit.paths.sessions);
    expect(said((await kit.doctor()).get('home.contents'))).toMatch(/sessions is a link, which is not followed/);
  });

  it.skipIf(!isRoot)('names what belongs to another user: home, sessions, credentials, sockets', async () => {
    await makeHome();
    await mkdir(kit.paths.credentials, { mode: 0o700 });
    await staleSocket(kit.paths.controlSocket);
    const owned = async (file: string, id: string): Promise<void> => {
      await chown(file, NOBODY, NOBODY);
      const report = await kit.doctor();
      await chown(file, 0, 0);
      expect(report.get(id).status, file).toBe('failure');
      expect(said(report.get(id))).toMatch(/belongs to user|not a folder of this user's own/);
    };
    await owned(kit.paths.home, 'home');
    await owned(kit.paths.sessions, 'home.contents');
    await owned(kit.paths.credentials, 'home.credentials');
    await owned(kit.paths.run, 'socket.folder');
    await owned(kit.paths.controlSocket, 'socket.control');
  });

  it('names a credential and a folder of sockets that others get at', async () => {
    await makeHome();
    await mkdir(kit.paths.credentials, { mode: 0o700 });
    await writeFile(path.join(kit.paths.credentials, 'abc'), 'amb_x\n', { mode: 0o644 });
    await chmod(kit.paths.run, 0o755);
    const report = await kit.doctor();
    expect(said(report.get('home.credentials'))).toMatch(/abc has mode 644.*chmod -R go=/);
    expect(said(report.get('socket.folder'))).toMatch(/mode 755: others can reach the sockets.*chmod 700/);
    expect(report.code).toBe(1);
  });

  it('names sessions that others can read or own, down to their files', async () => {
    await makeHome();
    const [first, second] = ['2026-11-30T1608', '2026-11-30T1609'].map((id) => path.join(kit.paths.sessions, id));
    for (const dir of [first ?? '', second ?? '']) {
      await mkdir(dir, { mode: 0o700 });
      for (const name of ['session.json', 'raw.jsonl'])
        await writeFile(path.join(dir, name), JSON.stringify(sessionFile()), { mode: 0o600 });
    }
    expect((await kit.doctor()).get('home.contents').status).toBe('ok');
    await chmod(first ?? '', 0o755);
    await chmod(path.join(second ?? '', 'raw.jsonl'), 0o666);
    const words = said((await kit.doctor()).get('home.contents'));
    expect(words).toMatch(/T1608 \(mode 755\)/);
    expect(words).toMatch(/T1609\/raw\.jsonl \(mode 666\).*chmod -R go=/);
    if (!isRoot) return;
    await chown(path.join(second ?? '', 'raw.jsonl'), NOBODY, NOBODY);
    const report = await kit.doctor();
    expect(report.get('home.contents').status).toBe('failure');
    expect(said(report.get('home.contents'))).toMatch(/raw\.jsonl belongs to user 65534.*chown -R/);
  });

  it('names a damaged list of MCP clients before a start sets it aside', async () => {
    await makeHome();
    const file = path.join(kit.paths.mcp, 'clients.json');
    await writeFile(file, JSON.stringify({ schema: 1, clients: [] }), { mode: 0o600 });
    expect((await kit.doctor()).faults).toEqual(['daemon']);
    await writeFile(file, '{"schema":1,"clients":[{"id"', { mode: 0o600 });
    expect(said((await kit.doctor()).get('mcp.clients'))).toMatch(/clients\.json is damaged.*Restore it/);
  });

  it('names sockets that are left over, open to others, or no sockets at all', async () => {
    await makeHome();
    await staleSocket(kit.paths.controlSocket);
    await writeFile(kit.paths.mcpSocket, '');
    const left = await kit.doctor();
    expect(said(left.get('socket.control'))).toMatch(/nothing answers on it.*daemon start/);
    expect(left.get('socket.control').status).toBe('warning');
    expect(said(left.get('socket.mcp'))).toMatch(/is no socket/);
    await rm(kit.paths.mcpSocket);
    await staleSocket(kit.paths.mcpSocket);
    // The next start takes it away; a person has nothing to remove.
    expect(said((await kit.doctor()).get('socket.mcp'))).toMatch(/nothing answers on it.*daemon start`\.$/);
    await chmod(kit.paths.controlSocket, 0o666);
    expect(said((await kit.doctor()).get('socket.control'))).toMatch(/mode 666: others can connect.*chmod 600/);
  });

  it('names a home of a later version, and the start that failed for it', async () => {
    await makeHome();
    await writeFile(path.join(kit.paths.home, 'home.json'), JSON.stringify({ schema: 99 }), { mode: 0o600 });
    expect((await runHere(kit.paths.home, ['daemon', 'start'], { env: kit.env })).code).toBe(1);
    const report = await kit.doctor();
    expect(said(report.get('home'))).toMatch(/later version of Ambient \(layout 99.*Install the later version/);
    expect(said(report.get('daemon'))).toMatch(/The last start failed: .*later version/);
  });

  it('names a daemon that gave up after five failed starts', async () => {
    await makeHome();
    const starts = Array.from({ length: 5 }, () => new Date().toISOString());
    await writeFile(path.join(kit.paths.home, 'service-starts.json'), JSON.stringify({ starts }));
    const report = await kit.doctor();
    expect(said(report.get('service'))).toMatch(/five times in a row.*daemon logs/);
    expect(report.code).toBe(1);
  });

  it.each([
    ['{"audio.device": ', 'failure', /is not valid JSON/],
    ['[]', 'failure', /is not a JSON object/],
    ['{"transcription.threads": 99}', 'failure', /transcription\.threads in .* does not fit/],
    ['{"audio.devise": "x"}', 'warning', /nothing reads: audio\.devise/],
  ])('names a configuration that reads %s', async (text, status, words) => {
    await makeHome();
    await writeFile(kit.paths.config, text, { mode: 0o600 });
    const report = await kit.doctor();
    expect(report.get('config').status).toBe(status);
    expect(said(report.get('config'))).toMatch(words);
  });

  it('names a setting in the environment that does not fit, and a disk that is low or full by the settings', async () => {
    await makeHome();
    expect(said((await kit.doctor({ AMBIENT_LOG_LEVEL: 'loud' })).get('config'))).toMatch(
      /AMBIENT_LOG_LEVEL does not fit: it has to be one of: debug, info, warn, error\. -> Unset or correct AMBIENT_LOG_LEVEL/,
    );
    expect((await kit.doctor({ AMBIENT_DISK_LOW_MB: '999999999' })).get('disk').status).toBe('warning');
    await writeFile(kit.paths.config, JSON.stringify({ 'disk.stop_mb': 999_999_999 }), { mode: 0o600 });
    const full = await kit.doctor();
    expect(said(full.get('disk'))).toMatch(/MiB free.*Nothing is recorded below 999999999 MiB.*Free some space/);
    expect(full.code).toBe(1);
  });

  it('names sessions that are broken, unfinished or half deleted, and a library that is none', async () => {
    await makeHome();
    const session = async (id: string, text: string): Promise<void> => {
      await mkdir(path.join(kit.paths.sessions, id), { mode: 0o700 });
      await writeFile(path.join(kit.paths.sessions, id, 'session.json'), text);
    };
    await session('2026-11-30T1608', 'garbage');
    await session('2026-11-30T1609', JSON.stringify(sessionFile({ id: '2026-11-30T1609', state: 'live' })));
    await session('2026-11-30T1610', JSON.stringify(sessionFile({ id: '2026-11-30T1610' })));
    await mkdir(path.join(kit.paths.sessions, '.trash-0123'));
    await mkdir(path.join(kit.paths.sessions, 'notes of mine'));
    await writeFile(kit.paths.library, 'this is not a database', { mode: 0o600 });
    const report = await kit.doctor();
    expect(said(report.get('sessions'))).toMatch(/1 of 3 cannot be read: 2026-11-30T1608/);
    expect(said(report.get('sessions.strays'))).toMatch(/1 folder is no session: notes of mine\..*Move/);
    expect(said(report.get('sessions.unfinished'))).toMatch(/Not complete: 2026-11-30T1609\..*daemon start/);
    expect(said(report.get('sessions.trash'))).toMatch(/1 deletion did not come to an end/);
    expect(said(report.get('library'))).toMatch(/is no SQLite file.*daemon start/);
    expect(report.code).toBe(1);
  });
});
