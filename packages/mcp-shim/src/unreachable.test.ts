import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDaemon } from '../test/fake-daemon.js';
import { ShimProcess } from '../test/shim-process.js';
import { parseArgs } from './options.js';

let daemon: FakeDaemon;
let shim: ShimProcess | undefined;

beforeEach(() => {
  daemon = new FakeDaemon();
});

afterEach(async () => {
  shim?.kill();
  await shim?.exit;
  shim = undefined;
  await daemon.remove();
});

const list = (id: number) => ({ id, method: 'tools/list' });

describe('no daemon', () => {
  it('answers a waiting request with what to run, stays alive, and serves once the daemon is there', async () => {
    shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '300'] });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('ambientctl daemon start'), data: { code: 'not_running' } },
    });
    await daemon.listen();
    shim.send(list(2));
    const connection = await daemon.connections.next();
    expect(await connection.message()).toMatchObject({ id: 2 });
    connection.send({ id: 2, result: { tools: [] } });
    expect(await shim.out.next()).toMatchObject({ id: 2, result: {} });
    expect(connection.handshake).toMatchObject({
      ambient: 1,
      token: 'token-1',
      shim: { version: expect.any(String), pid: shim.child.pid },
    });
  });

  it('waits 10 s by default', () => {
    expect(parseArgs(['--profile', 'p1'])).toEqual({ kind: 'run', options: { profile: 'p1', waitMs: 10_000 } });
  });

  it('keeps the order of a session that began before the daemon', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send({ id: 0, method: 'initialize', params: {} });
    shim.send({ method: 'notifications/initialized' });
    shim.send(list(1));
    shim.send(list(2));
    shim.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await daemon.listen();
    const connection = await daemon.connections.next();
    const methods = [await connection.message(), await connection.message(), await connection.message()].map(({ id, method }) => [
      id,
      method,
    ]);
    expect(methods).toEqual([
      [0, 'initialize'],
      [undefined, 'notifications/initialized'],
      [2, 'tools/list'],
    ]);
  });

  it('says that MCP is off when the daemon runs without it', async () => {
    mkdirSync(path.join(daemon.home, 'run'), { mode: 0o700 });
    const control = createServer((socket) => socket.destroy()).listen(path.join(daemon.home, 'run', 'control.sock'));
    try {
      shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '200'] });
      shim.send(list(1));
      expect(await shim.out.next()).toMatchObject({
        error: { message: expect.stringContaining('ambientctl mcp enable'), data: { code: 'mcp_off' } },
      });
    } finally {
      control.close();
    }
  });

  it('ends at once when the host has nothing to wait for, and after the answers when it has', async () => {
    shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '200'] });
    shim.end();
    expect(await shim.exit).toEqual({ code: 0, signal: null });
    shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '200'] });
    shim.write(JSON.stringify({ jsonrpc: '2.0', ...list(1) }));
    shim.end();
    expect(await shim.out.next()).toMatchObject({ id: 1, error: {} });
    expect(await shim.exit).toEqual({ code: 0, signal: null });
  });

  it.runIf(process.platform === 'linux')('asks systemd for an installed service of this home, once, and never for another', async () => {
    const bin = path.join(daemon.home, 'bin');
    const calls = path.join(daemon.home, 'calls');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'systemctl'), `#!/bin/sh\necho "$@ $XDG_RUNTIME_DIR \${AMBIENT_MCP_TOKEN-none}" >> '${calls}'\n`);
    chmodSync(path.join(bin, 'systemctl'), 0o755);
    const unit = path.join(daemon.home, '.config/systemd/user/ambientd.service');
    mkdirSync(path.dirname(unit), { recursive: true });
    const env = { PATH: `${bin}:${process.env.PATH ?? ''}`, AMBIENT_MCP_TOKEN: 'token-1' };
    const once = async (): Promise<void> => {
      shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '700'], env });
      shim.send(list(1));
      await shim.out.next();
      shim.kill();
      await shim.exit;
    };
    writeFileSync(unit, '[Service]\nEnvironment=AMBIENT_HOME=/somewhere/else\n');
    await once();
    expect(() => readFileSync(calls)).toThrow();
    writeFileSync(unit, `[Service]\nEnvironment=AMBIENT_HOME=${daemon.home}\n`);
    await once();
    const uid = process.getuid?.() ?? 0;
    expect(readFileSync(calls, 'utf8')).toBe(`--user --no-block start ambientd.service /run/user/${uid} none\n`);
  });

  it('shows the token to no socket that others could have put there', async () => {
    await daemon.listen();
    chmodSync(path.join(daemon.home, 'run'), 0o777);
    shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '200'] });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({
      error: { message: expect.stringContaining(`chmod 700 '${path.join(daemon.home, 'run')}'`), data: { code: 'not_private' } },
    });
    expect(daemon.handshakes).toEqual([]);
  });
});

describe('a refused handshake', () => {
  const refusal = { ok: false, code: 'revoked', message: 'This token has been revoked.', hint: 'Connect again.' };

  it('is passed on with its reason, at once, and the next requests do not hammer the daemon', async () => {
    daemon.reply = refusal;
    await daemon.listen();
    shim = new ShimProcess({ home: daemon.home });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({
      id: 1,
      error: { message: 'This token has been revoked. Connect again.', data: { code: 'revoked', hint: 'Connect again.' } },
    });
    for (let id = 2; id < 20; id++) shim.send(list(id));
    for (let id = 2; id < 20; id++) expect(await shim.out.next()).toMatchObject({ id, error: { data: { code: 'revoked' } } });
    expect(daemon.handshakes).toHaveLength(1);
    expect(`${shim.lines.join('')}${shim.stderr}`).not.toContain('token-1');
  });

  it('of a client that was switched off is asked about again by the very next request', async () => {
    daemon.reply = { ...refusal, code: 'disabled' };
    await daemon.listen();
    shim = new ShimProcess({ home: daemon.home });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({ id: 1, error: { data: { code: 'disabled' } } });
    for (let id = 2; id < 20; id++) shim.send(list(id));
    for (let id = 2; id < 20; id++) expect(await shim.out.next()).toMatchObject({ id, error: { data: { code: 'disabled' } } });
    expect(daemon.handshakes).toHaveLength(2);
    daemon.reply = { ok: true, client: 'c1', name: 'Test' };
    shim.send(list(20));
    expect(await (await daemon.connections.next()).message()).toMatchObject({ id: 20 });
  });

  it('with slow_down is waited out, not passed on', async () => {
    daemon.reply = { ...refusal, code: 'slow_down', retry_after_s: 0.5 };
    await daemon.listen();
    shim = new ShimProcess({ home: daemon.home });
    shim.send(list(1));
    while (daemon.handshakes.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    daemon.reply = { ok: true, client: 'c1', name: 'Test' };
    for (let id = 2; id < 10; id++) shim.send(list(id));
    expect(await (await daemon.connections.next()).message()).toMatchObject({ id: 1 });
    expect(daemon.handshakes).toHaveLength(2);
  });
});

describe('the credential', () => {
  const credential = (): string => path.join(daemon.home, 'credentials', 'p1');

  it('of a profile comes from its 0600 file', async () => {
    mkdirSync(path.dirname(credential()), { mode: 0o700 });
    writeFileSync(credential(), 'secret-of-p1\n', { mode: 0o600 });
    await daemon.listen();
    shim = new ShimProcess({ home: daemon.home, args: ['--profile', 'p1'], env: {} });
    const connection = await daemon.connections.next();
    expect(connection.handshake.token).toBe('secret-of-p1');
  });

  it.each([
    ['is readable by others', () => chmodSync(credential(), 0o640)],
    ['lies in a folder that others may write to', () => chmodSync(path.dirname(credential()), 0o777)],
  ])('is refused when its file %s', async (_name, spoil) => {
    mkdirSync(path.dirname(credential()), { mode: 0o700 });
    writeFileSync(credential(), 'secret-of-p1\n', { mode: 0o600 });
    spoil();
    await daemon.listen();
    shim = new ShimProcess({ home: daemon.home, args: ['--profile', 'p1'], env: {} });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({ id: 1, error: { data: { code: 'unsafe_credential' } } });
    expect(daemon.handshakes).toEqual([]);
  });

  it('is refused when its file is a link', async () => {
    mkdirSync(path.dirname(credential()), { mode: 0o700 });
    writeFileSync(path.join(daemon.home, 'elsewhere'), 'secret\n', { mode: 0o600 });
    symlinkSync(path.join(daemon.home, 'elsewhere'), credential());
    shim = new ShimProcess({ home: daemon.home, args: ['--profile=p1'], env: {} });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({ error: { data: { code: 'unsafe_credential' } } });
  });

  it('that is nowhere is explained in the answer', async () => {
    shim = new ShimProcess({ home: daemon.home, env: {} });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({
      error: { message: expect.stringContaining('ambientctl mcp connect'), data: { code: 'no_credential' } },
    });
    shim.kill();
    await shim.exit;
    shim = new ShimProcess({ home: daemon.home, args: ['--profile', 'p1'], env: {} });
    shim.send(list(1));
    expect(await shim.out.next()).toMatchObject({
      error: { message: expect.stringContaining('revoked or unknown profile p1'), data: { code: 'no_credential' } },
    });
  });
});
