import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from './contract/helpers.js';
import { type InProcess, inProcess } from './rig/in-process.js';
import { RawLines } from './rig/socket-transport.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

let rig: InProcess;
let token: string;
let line: RawLines;
beforeAll(async () => {
  rig = await inProcess();
  ({ token } = await rig.mcp.create({ name: 'raw', access: 'trusted', toolsets: ['sessions', 'library'] }));
});
afterAll(() => rig.close());
beforeEach(async () => {
  line = await RawLines.open(rig.paths.mcpSocket, token);
});
afterEach(async () => {
  line.destroy();
  const nothing = JSON.stringify({ connections: 0, strangers: 0, waiting: 0 });
  await until(() => JSON.stringify(rig.mcp.load()) === nothing, 'nothing is left of the connection');
});

const alive = async (): Promise<void> =>
  expect(await line.ask('alive', 'tools/list')).toMatchObject({ result: { tools: expect.any(Array) } });
const nextError = async (): Promise<unknown> => {
  const message = await line.next();
  return { id: message?.id, code: (message?.error as { code: number } | undefined)?.code };
};

describe('rubbish is answered and the loop goes on', () => {
  test.each([
    ['malformed JSON', '{"jsonrpc":"2.0","id":1,', { id: null, code: -32700 }],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', { id: null, code: -32600 }],
    ['an empty batch', '[]', { id: null, code: -32600 }],
    ['a value that is no message', '42', { id: null, code: -32600 }],
    ['a message of another protocol', '{"id":5,"cmd":"status"}', { id: 5, code: -32600 }],
    ['an unknown method', '{"jsonrpc":"2.0","id":6,"method":"no/such"}', { id: 6, code: -32601 }],
    ['initialize without a version', '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}', { id: 7, code: -32602 }],
    ['a call without a name', '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{}}', { id: 8, code: -32602 }],
  ])('%s', async (_what, text, expected) => {
    line.send(text);
    expect(await nextError()).toEqual(expected);
    await alive();
  });

  test('a line of 2 MB is dropped whole, and its neighbours are answered', async () => {
    line.write(
      `{"jsonrpc":"2.0","id":"before","method":"ping"}\n{"x":"${'y'.repeat(2 * 1024 * 1024)}"}\n{"jsonrpc":"2.0","id":"after","method":"ping"}\n`,
    );
    const got = [await line.next(), await line.next(), await line.next()];
    expect(got).toContainEqual({ jsonrpc: '2.0', id: 'before', result: {} });
    expect(got).toContainEqual({ jsonrpc: '2.0', id: 'after', result: {} });
    expect(got.find((message) => message?.error !== undefined)).toMatchObject({ id: null, error: { code: -32600 } });
    await alive();
  });

  test('no error message is a dump', async () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}',
    ]) {
      line.send(text);
      const message = (await line.next())?.error as { message: string };
      expect(message.message).not.toContain('\n');
      expect(message.message.length).toBeLessThan(200);
    }
  });

  test('blank lines and carriage returns are fine', async () => {
    line.write('\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n');
    expect(await line.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('bytes one at a time make the same messages', async () => {
    for (const byte of '{"jsonrpc":"2.0","id":"ü","method":"ping"}\n') line.write(byte);
    expect(await line.next()).toEqual({ jsonrpc: '2.0', id: 'ü', result: {} });
  });

  test('too many requests at once are refused one by one, the others answered', async () => {
    const id = (await rig.recorder.start({ mic: true, system: true, pace: 'real' })).id;
    const { epoch, sinceSequence } = JSON.parse(await callText('seed', 'live_transcript', { sessionId: id })) as Record<string, unknown>;
    for (let i = 0; i < 70; i++)
      line.send({
        jsonrpc: '2.0',
        id: i,
        method: 'tools/call',
        params: { name: 'live_transcript', arguments: { sessionId: id, epoch, sinceSequence, waitSeconds: 20 } },
      });
    const refused: unknown[] = [];
    for (let i = 0; i < 6; i++) refused.push((await line.next())?.id);
    expect(refused).toEqual([64, 65, 66, 67, 68, 69]);
    await until(() => rig.mcp.load().waiting === 64, 'the others wait');
    await rig.recorder.stop();
  });

  test('an id that is in flight cannot be used again', async () => {
    const id = (await rig.recorder.start({ mic: true, system: true, pace: 'real' })).id;
    const { epoch, sinceSequence } = JSON.parse(await callText('seed', 'live_transcript', { sessionId: id })) as Record<string, unknown>;
    const call = { name: 'live_transcript', arguments: { sessionId: id, epoch, sinceSequence, waitSeconds: 20 } };
    line.send({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: call });
    line.send({ jsonrpc: '2.0', id: 'same', method: 'ping' });
    expect(await nextError()).toEqual({ id: 'same', code: -32600 });
    await until(() => rig.mcp.load().waiting === 1, 'the first still waits');
    await rig.recorder.stop();
    expect(await line.next()).toMatchObject({ id: 'same', result: {} });
  });
});

describe('both eras', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('initialize with %s', async (protocolVersion) => {
    expect(await line.ask(1, 'initialize', { ...INITIALIZE, protocolVersion })).toMatchObject({
      result: { protocolVersion, serverInfo: { name: 'ambient' }, capabilities: { resources: { subscribe: true } } },
    });
    line.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await alive();
  });

  test('an unknown version is met with one that is known', async () => {
    expect(await line.ask(1, 'initialize', { ...INITIALIZE, protocolVersion: '1999-01-01' })).toMatchObject({
      result: { protocolVersion: '2025-11-25' },
    });
  });

  test('server/discover and per-request metadata', async () => {
    expect(await line.ask(1, 'server/discover', { _meta: META })).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } });
    expect(await line.ask(2, 'tools/call', { _meta: META, name: 'status', arguments: {} })).toMatchObject({
      result: { resultType: 'complete', isError: false },
    });
  });

  test('a discover that is followed by initialize falls back to the older era', async () => {
    await line.ask(1, 'server/discover', { _meta: META });
    expect(await line.ask(2, 'initialize', INITIALIZE)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    await alive();
  });

  test('a second initialize is answered and the loop goes on', async () => {
    await line.ask(1, 'initialize', INITIALIZE);
    line.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(await line.ask(2, 'initialize', INITIALIZE)).toMatchObject({ id: 2, result: { protocolVersion: '2025-11-25' } });
    await alive();
  });

  test('initialize on a connection of the newer era is refused with the versions that fit', async () => {
    await line.ask(1, 'tools/list', { _meta: META });
    expect(await line.ask(2, 'initialize', INITIALIZE)).toMatchObject({ id: 2, error: { data: { supported: ['2026-07-28'] } } });
    expect(await line.ask(3, 'tools/list', { _meta: META })).toMatchObject({ result: {} });
  });
});

describe('the end of input', () => {
  test('a bare, unterminated tools/list is answered, then the connection ends', async () => {
    line.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    expect(await line.next()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
    expect(await line.next()).toBeUndefined();
  });

  test('an unterminated line of rubbish is answered too', async () => {
    line.end('{"jsonrpc":');
    expect(await nextError()).toEqual({ id: null, code: -32700 });
    expect(await line.next()).toBeUndefined();
  });

  test('a long poll returns at once, and what is owed is sent', async () => {
    const { id } = await rig.recorder.start({ mic: true, system: true, pace: 'real' });
    const { epoch, sinceSequence } = JSON.parse(await callText('seed', 'live_transcript', { sessionId: id })) as Record<string, unknown>;
    const began = performance.now();
    line.send({
      jsonrpc: '2.0',
      id: 'poll',
      method: 'tools/call',
      params: { name: 'live_transcript', arguments: { sessionId: id, epoch, sinceSequence, waitSeconds: 20 } },
    });
    line.end('{"jsonrpc":"2.0","id":"last","method":"ping"}');
    const ids = [(await line.next())?.id, (await line.next())?.id];
    expect(ids.sort()).toEqual(['last', 'poll']);
    expect(await line.next()).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(10_000);
    await rig.recorder.stop();
  });

  test('an open subscription does not hold the connection', async () => {
    line.send({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { _meta: META, notifications: { toolsListChanged: true } },
    });
    expect(await line.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    line.end();
    while ((await line.next()) !== undefined);
  });
});

describe('a long poll', () => {
  let session: string;
  let cursor: Record<string, unknown>;
  const poll = (id: string, extra: Record<string, unknown> = {}): void =>
    line.send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { ...extra, name: 'live_transcript', arguments: { sessionId: session, ...cursor, waitSeconds: 20 } },
    });
  beforeEach(async () => {
    session = (await rig.recorder.start({ mic: true, system: true, pace: 'real' })).id;
    const { epoch, sinceSequence } = JSON.parse(await callText('seed', 'live_transcript', { sessionId: session })) as Record<
      string,
      unknown
    >;
    cursor = { epoch, sinceSequence };
  });
  afterEach(async () => {
    await rig.recorder.shutdown();
  });

  test('that is cancelled is given up and not answered', async () => {
    poll('poll');
    await until(() => rig.mcp.load().waiting === 1, 'it waits');
    line.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'poll' } });
    await until(() => rig.mcp.load().waiting === 0, 'it is given up');
    expect(await line.ask('next', 'ping')).toEqual({ jsonrpc: '2.0', id: 'next', result: {} });
  });

  test('whose client is killed is given up', async () => {
    poll('poll');
    await until(() => rig.mcp.load().waiting === 1, 'it waits');
    line.destroy();
    await until(() => rig.mcp.load().waiting === 0, 'it is given up');
  });

  test('tells a client that wants to know that it is alive', async () => {
    poll('poll', { _meta: { progressToken: 'p' } });
    expect(await line.next()).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p', total: 20 } });
  });

  test('of each of many waits without a timer for looking', async () => {
    const lines = await Promise.all(Array.from({ length: 50 }, () => RawLines.open(rig.paths.mcpSocket, token)));
    for (const [i, other] of lines.entries())
      other.send({
        jsonrpc: '2.0',
        id: i,
        method: 'tools/call',
        params: { name: 'live_transcript', arguments: { sessionId: session, ...cursor, waitSeconds: 20 } },
      });
    await until(() => rig.mcp.load().waiting === 50, 'all wait');
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000 / 2_000).toBeLessThan(0.05);
    await rig.recorder.stop();
    const states = await Promise.all(lines.map(async (other) => JSON.stringify(await other.next())));
    for (const state of states) expect(state).toContain('paused');
    for (const other of lines) other.destroy();
  });
});

async function callText(id: string, name: string, args: Record<string, unknown>): Promise<string> {
  const { result } = (await line.ask(id, 'tools/call', { name, arguments: args })) as { result: { content: { text: string }[] } };
  return result.content[0]?.text ?? '';
}
