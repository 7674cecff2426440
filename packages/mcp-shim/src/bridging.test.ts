import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeConnection, FakeDaemon, type Json } from '../test/fake-daemon.js';
import { ShimProcess } from '../test/shim-process.js';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

let daemon: FakeDaemon;
let shim: ShimProcess;

beforeEach(async () => {
  daemon = new FakeDaemon();
  await daemon.listen();
});

afterEach(async () => {
  shim.kill();
  await shim.exit;
  await daemon.remove();
});

/** A host of the handshake era, connected and initialized. */
async function initialized(): Promise<FakeConnection> {
  shim = new ShimProcess({ home: daemon.home });
  shim.send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'h', version: '1' } },
  });
  const connection = await daemon.connections.next();
  expect((await connection.message()).method).toBe('initialize');
  connection.send({ id: 0, result: { protocolVersion: '2025-11-25', capabilities: {} } });
  expect(await shim.out.next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } });
  shim.send({ method: 'notifications/initialized' });
  expect((await connection.message()).method).toBe('notifications/initialized');
  return connection;
}

/** Plays a restarted daemon's part of the replayed handshake. */
async function replayed(): Promise<FakeConnection> {
  const connection = await daemon.connections.next();
  const initialize = await connection.message();
  expect(initialize).toMatchObject({ method: 'initialize', params: { protocolVersion: '2025-11-25', clientInfo: { name: 'h' } } });
  expect(initialize.id).not.toBe(0);
  connection.send({ id: initialize.id, result: { protocolVersion: '2025-11-25', capabilities: {} } });
  expect((await connection.message()).method).toBe('notifications/initialized');
  return connection;
}

const call = (id: number, name: string): Json => ({ id, method: 'tools/call', params: { name, arguments: {} } });

describe('a daemon restart in mid-session', () => {
  it('is bridged with the handshake replayed, and the host sees nothing of it', async () => {
    const first = await initialized();
    first.cut();
    const second = await replayed();
    shim.send(call(1, 'status'));
    expect(await second.message()).toMatchObject({ id: 1, method: 'tools/call' });
    second.send({ id: 1, result: { content: [] } });
    expect(await shim.out.next()).toMatchObject({ id: 1 });
    expect(shim.lines).toHaveLength(2);
  });

  it('is waited for: a call made while the daemon is away is answered by the next one', async () => {
    await initialized();
    await daemon.close();
    shim.send(call(1, 'start_recording'));
    shim.send(call(2, 'status'));
    await daemon.listen();
    const second = await replayed();
    expect(await second.message()).toMatchObject({ id: 1, params: { name: 'start_recording' } });
    expect(await second.message()).toMatchObject({ id: 2 });
  });

  it('sends reads in flight again, and answers changes in flight with "outcome unknown"', async () => {
    const first = await initialized();
    shim.send(call(1, 'live_transcript'));
    shim.send(call(2, 'delete_session'));
    shim.send({ id: 3, method: 'resources/list' });
    shim.send(call(4, 'a_tool_of_next_year'));
    for (let i = 0; i < 4; i++) await first.message();
    first.write('{"jsonrpc":"2.0","id":1,"result":{"torn":');
    first.cut();
    expect(await shim.out.next()).toMatchObject({
      id: 2,
      error: { message: expect.stringContaining('outcome unknown'), data: { code: 'outcome_unknown' } },
    });
    expect(await shim.out.next()).toMatchObject({ id: 4, error: { data: { code: 'outcome_unknown' } } });
    const second = await replayed();
    expect(await second.message()).toMatchObject({ id: 1, params: { name: 'live_transcript' } });
    expect(await second.message()).toMatchObject({ id: 3, method: 'resources/list' });
    second.send({ id: 1, result: { ok: 1 } });
    expect(await shim.out.next()).toMatchObject({ id: 1, result: { ok: 1 } });
  });

  it('subscribes to resources again, and says that they may have changed', async () => {
    const first = await initialized();
    for (const [id, uri] of [
      [1, 'ambient://sessions/a'],
      [2, 'ambient://sessions/b'],
    ] as const) {
      shim.send({ id, method: 'resources/subscribe', params: { uri } });
      await first.message();
      first.send({ id, result: {} });
      await shim.out.next();
    }
    shim.send({ id: 3, method: 'resources/unsubscribe', params: { uri: 'ambient://sessions/a' } });
    await first.message();
    first.send({ id: 3, result: {} });
    await shim.out.next();
    first.cut();
    const second = await replayed();
    const again = await second.message();
    expect(again).toMatchObject({ method: 'resources/subscribe', params: { uri: 'ambient://sessions/b' } });
    second.send({ id: again.id, result: {} });
    expect(await shim.out.next()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'ambient://sessions/b' } });
  });

  it('gives up on a read that breaks the connection each time', async () => {
    let connection = await initialized();
    shim.send(call(1, 'status'));
    for (let i = 0; i < 3; i++) {
      expect(await connection.message()).toMatchObject({ id: 1 });
      connection.cut();
      if (i < 2) connection = await replayed();
    }
    expect(await shim.out.next()).toMatchObject({ id: 1, error: { data: { code: 'broken' } } });
  });

  it('drops the answer of a host to a daemon that is gone', async () => {
    const first = await initialized();
    first.send({ id: 9, method: 'ping' });
    expect(await shim.out.next()).toMatchObject({ id: 9, method: 'ping' });
    first.cut();
    const second = await replayed();
    shim.send({ id: 9, result: {} });
    shim.send(call(1, 'status'));
    expect(await second.message()).toMatchObject({ id: 1 });
  });

  it('says so when the restarted daemon refuses the replayed session', async () => {
    const first = await initialized();
    first.cut();
    const second = await daemon.connections.next();
    const initialize = await second.message();
    shim.send(call(1, 'status'));
    // The call waits behind the handshake; its turn comes when the shim has read it.
    await new Promise((resolve) => setTimeout(resolve, 200));
    second.send({ id: initialize.id, error: { code: -32602, message: 'unsupported' } });
    expect(await shim.out.next()).toMatchObject({ id: 1, error: { data: { code: 'replay_failed' } } });
  });

  it('resends nothing that the host has cancelled', async () => {
    const first = await initialized();
    shim.send(call(1, 'wait_for_transcript'));
    await first.message();
    shim.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await first.message()).toMatchObject({ method: 'notifications/cancelled' });
    first.cut();
    const second = await replayed();
    shim.send(call(2, 'status'));
    expect(await second.message()).toMatchObject({ id: 2 });
  });
});

describe('a daemon restart under per-request metadata', () => {
  const modern = (id: number, method: string, params: Json = {}): Json => ({ id, method, params: { _meta: META, ...params } });

  it('needs no handshake: the next request opens the new connection', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send(modern(0, 'server/discover'));
    const first = await daemon.connections.next();
    await first.message();
    first.send({ id: 0, result: {} });
    await shim.out.next();
    first.cut();
    const second = await daemon.connections.next();
    shim.send(modern(1, 'tools/list'));
    expect(await second.message()).toMatchObject({ id: 1, method: 'tools/list', params: { _meta: META } });
  });

  it('opens a subscription again and acknowledges it only once, whether the daemon was killed or stopped', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send(modern(7, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    let connection = await daemon.connections.next();
    const acknowledge = (): void =>
      connection.send({ method: 'notifications/subscriptions/acknowledged', params: { _meta: { [SUBSCRIPTION]: 7 }, notifications: {} } });
    await connection.message();
    acknowledge();
    expect(await shim.out.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });

    for (const goodbye of [false, true]) {
      if (goodbye) connection.send({ id: 7, result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 7 } } });
      connection.cut();
      connection = await daemon.connections.next();
      expect(await connection.message()).toMatchObject({ id: 7, method: 'subscriptions/listen' });
      acknowledge();
      connection.send({ method: 'notifications/tools/list_changed', params: { _meta: { [SUBSCRIPTION]: 7 } } });
      expect(await shim.out.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    }
  });

  it('passes on the end of a subscription that ends while the connection goes on', async () => {
    shim = new ShimProcess({ home: daemon.home });
    shim.send(modern(7, 'subscriptions/listen', { notifications: {} }));
    const connection = await daemon.connections.next();
    await connection.message();
    connection.send({ method: 'notifications/subscriptions/acknowledged', params: { _meta: { [SUBSCRIPTION]: 7 } } });
    await shim.out.next();
    connection.send({ id: 7, result: { resultType: 'complete' } });
    expect(await shim.out.next()).toMatchObject({ id: 7, result: { resultType: 'complete' } });
  });
});
