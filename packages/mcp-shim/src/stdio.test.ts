import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDaemon } from '../test/fake-daemon.js';
import { ShimProcess } from '../test/shim-process.js';

const SHIM = fileURLToPath(new URL('../bin/ambient-mcp.js', import.meta.url));
const MEGABYTE = 1024 * 1024;

let daemon: FakeDaemon;
let shim: ShimProcess;

beforeEach(async () => {
  daemon = new FakeDaemon();
  await daemon.listen();
});

afterEach(async () => {
  shim?.kill();
  await shim?.exit;
  await daemon.remove();
});

describe('malformed input', () => {
  it('reaches a connected daemon byte for byte, the unterminated last line included', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    const lines = [
      '{"jsonrpc": "2.0",  "id":1, "method":"tools/list"}',
      'rubbish {',
      '[{"jsonrpc":"2.0","id":2,"method":"ping"}]',
      '{"x":1}',
    ];
    for (const line of lines) shim.send(line);
    shim.send('');
    shim.write('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    shim.end();
    for (const line of [...lines, '{"jsonrpc":"2.0","id":3,"method":"ping"}']) expect(await connection.lines.next()).toBe(line);
    await connection.ended;
    connection.send({ id: null, error: { code: -32700, message: 'Parse error' } });
    connection.send({ id: 1, result: {} });
    connection.send({ id: 3, result: {} });
    connection.end();
    expect([(await shim.out.next()).id, (await shim.out.next()).id, (await shim.out.next()).id]).toEqual([null, 1, 3]);
    expect(await shim.exit).toEqual({ code: 0, signal: null });
  });

  it('is answered with its id when the line is too long, is not sent on, and the next line is read', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    shim.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(2 * MEGABYTE)}"}}`);
    shim.send({ id: 2, method: 'ping' });
    expect(await shim.out.next()).toMatchObject({ id: 1, error: { code: -32600, message: expect.stringContaining('longer than') } });
    expect(await connection.message()).toMatchObject({ id: 2 });
  });

  it('is answered by the shim while there is no daemon', async () => {
    await daemon.close();
    shim = new ShimProcess({ home: daemon.home, args: ['--wait-ms', '200'] });
    shim.send('rubbish');
    shim.send('[1]');
    shim.send('{"id":5,"method":"ping"}');
    shim.send('z'.repeat(2 * MEGABYTE));
    shim.send({ id: 6, method: 'ping' });
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await shim.out.next());
    expect(answers.map(({ id, error }) => [id, (error as { code: number }).code])).toEqual([
      [null, -32700],
      [null, -32600],
      [5, -32600],
      [null, -32600],
      [6, -32010],
    ]);
  });

  it('of the daemon never reaches the host', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    connection.send('a stray log line');
    connection.send({ method: 'notifications/message', params: {} });
    expect(await shim.out.next()).toMatchObject({ method: 'notifications/message' });
    expect(shim.lines).toHaveLength(1);
  });
});

describe('the end', () => {
  it('answers a bare tools/list from a pipe, as people check a registration', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    shim.end();
    const connection = await daemon.connections.next();
    await connection.message();
    await connection.ended;
    connection.send({ id: 1, result: { tools: [{ name: 'sessions' }] } });
    connection.end();
    expect(await shim.out.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'sessions' }] } });
    expect(await shim.exit).toEqual({ code: 0, signal: null });
  });

  it('waits for a restart when the connection breaks before the last answer', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send({ id: 1, method: 'tools/list' });
    shim.end();
    const first = await daemon.connections.next();
    await first.message();
    first.cut();
    const second = await daemon.connections.next();
    expect(await second.message()).toMatchObject({ id: 1 });
    second.send({ id: 1, result: {} });
    second.end();
    expect(await shim.out.next()).toMatchObject({ id: 1, result: {} });
    expect((await shim.exit).code).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('by %s is prompt, with calls in flight and a host that reads nothing', async (signal) => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    shim.send({ id: 1, method: 'tools/list' });
    await connection.message();
    shim.child.stdout.pause();
    connection.send({ id: 1, result: { x: 'x'.repeat(4 * MEGABYTE) } });
    shim.child.kill(signal);
    const [code] = await new Promise<[number | null]>((resolve) => shim.child.once('exit', (...args) => resolve([args[0]])));
    expect(code).toBe(0);
    shim.child.stdout.resume();
  });

  it('of the host closes the connection', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    shim.child.stdout.destroy();
    connection.send({ method: 'notifications/message', params: {} });
    await connection.ended;
    expect((await shim.exit).code).toBe(0);
  });
});

describe('backpressure', () => {
  it('stops reading the daemon while the host does not read', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    shim.child.stdout.pause();
    const chunk = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(MEGABYTE) } });
    for (let i = 0; i < 64; i++) connection.send(chunk);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const rss = Number(/VmRSS:\s+(\d+)/.exec(spawnSync('cat', [`/proc/${shim.child.pid}/status`], { encoding: 'utf8' }).stdout)?.[1] ?? 0);
    expect(rss).toBeLessThan(160_000);
    shim.child.stdout.resume();
    for (let i = 0; i < 64; i++) await shim.out.next();
  });

  it('stops reading the host while the daemon does not read, and loses nothing', async () => {
    shim = new ShimProcess({ home: daemon.home });
    const connection = await daemon.connections.next();
    connection.pause();
    const text = 'x'.repeat(900_000);
    let taken = 0;
    for (let id = 0; id < 40; id++)
      shim.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { text } })}\n`, () => {
        taken++;
      });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(taken).toBeLessThan(40);
    connection.resume();
    for (let id = 0; id < 40; id++) {
      expect(await connection.message()).toMatchObject({ id });
      connection.send({ id, result: {} });
      expect(await shim.out.next()).toMatchObject({ id });
    }
  });
});

describe('the command line', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [SHIM, ...args], { encoding: 'utf8', input: '', env: { HOME: daemon.home } });

  it('refuses a token with the reason, and does not repeat it', () => {
    for (const args of [['--token', 'sesame'], ['--token=sesame']]) {
      const { status, stderr, stdout } = run(...args);
      expect(status).toBe(2);
      expect(stderr).toContain('AMBIENT_MCP_TOKEN');
      expect(stderr + stdout).not.toContain('sesame');
    }
  });

  it.each([['--profile'], ['--profile', '../x'], ['--nonsense'], ['word']])('refuses %s %s with exit 2', (...args) => {
    expect(run(...args)).toMatchObject({ status: 2, stdout: '' });
  });

  it('prints its help and the version of its package', () => {
    expect(run('--help').stdout).toContain('Usage: ambient-mcp');
    const manifest = createRequire(import.meta.url)('../package.json') as { version: string };
    expect(run('--version').stdout).toBe(`${manifest.version}\n`);
  });

  it('refuses a home that is no absolute path', () => {
    const { status, stderr } = spawnSync(process.execPath, [SHIM], {
      encoding: 'utf8',
      input: '',
      env: { HOME: daemon.home, AMBIENT_HOME: 'x' },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('AMBIENT_HOME');
  });
});
