import type { DaemonEvent } from '@ambient/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from './contract/helpers.js';
import { type InProcess, inProcess } from './rig/in-process.js';
import { RawLines } from './rig/socket-transport.js';

let rig: InProcess;
let line: RawLines;
let clientId: string;
let session: string;
const open = async (approvalMs: number): Promise<void> => {
  rig = await inProcess({ approvalMs });
  const { client, token } = await rig.mcp.create({ name: 'Agent', access: 'enabled', toolsets: ['library'] });
  clientId = client.id;
  line = await RawLines.open(rig.paths.mcpSocket, token);
  session = (await rig.addSession({ name: 'Precious', lines: [['room', 'Keep me.']] })).id;
};
beforeEach(() => open(60_000));
afterEach(async () => {
  line.destroy();
  await rig.close();
});

const destroy = (id: number, tool = 'delete_session'): void =>
  line.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: { sessionId: session } } });
const asked = (count = 1): Promise<void> => until(() => rig.mcp.approvals().length === count, 'the user is asked');
const isThere = async (): Promise<boolean> => (await rig.store.ids()).includes(session);
const outcomes = async (): Promise<string[]> => (await rig.mcp.audit(100)).map(({ tool, outcome }) => `${tool} ${outcome}`);

test('an approval is announced on the bus when it comes and when it is decided', async () => {
  const events: DaemonEvent[] = [];
  rig.bus.on('test', (event) => event.type === 'approval' && events.push(event));
  destroy(1);
  await asked();
  const [approval] = rig.mcp.approvals();
  expect(approval).toMatchObject({ client: 'Agent', tool: 'delete_session', session, state: 'pending' });
  expect(Date.parse(approval?.expires_at ?? '') - Date.parse(approval?.created_at ?? '')).toBe(60_000);
  expect(await rig.mcp.decide(approval?.id ?? '', 'approve')).toMatchObject({ state: 'approved' });
  expect(await line.next()).toMatchObject({ id: 1, result: { isError: false } });
  expect(events.map((event) => event.type === 'approval' && event.approval.state)).toEqual(['pending', 'approved']);
  await expect(rig.mcp.decide(approval?.id ?? '', 'deny')).rejects.toMatchObject({ code: 'not_found' });
  expect(await outcomes()).toEqual(['delete_session started', 'delete_session succeeded']);
});

test('nobody answers: it counts as denied, nothing is deleted and nothing audited', async () => {
  line.destroy();
  await rig.close();
  await open(150);
  destroy(1);
  expect(await line.next()).toMatchObject({
    id: 1,
    result: { isError: true, content: [{ text: expect.stringMatching(/did not approve/) }] },
  });
  expect(await isThere()).toBe(true);
  expect(rig.mcp.approvals()).toEqual([]);
  expect(await outcomes()).toEqual([]);
});

test('a client that is disabled, or a daemon that stops, takes its questions with it', async () => {
  destroy(1);
  await asked();
  await rig.mcp.set(clientId, { access: 'disabled' });
  await until(() => rig.mcp.approvals().length === 0, 'withdrawn');
  expect(await isThere()).toBe(true);
});

test('a client can ask four things at once and no more', async () => {
  for (let id = 1; id <= 5; id++) destroy(id, 'delete_audio');
  expect(await line.next()).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringMatching(/Too many actions wait/) }] },
  });
  await asked(4);
});

test('what changed while the user thought is looked at again', async () => {
  destroy(1);
  await asked();
  const approval = rig.mcp.approvals()[0]?.id ?? '';
  await rig.mcp.set(clientId, { scope: { tags: ['other'], since: null, sessions: [] } });
  await expect(rig.mcp.decide(approval, 'approve')).rejects.toMatchObject({ code: 'not_found' });
  expect(await line.next()).toMatchObject({ id: 1, result: { isError: true, content: [{ text: `no session ${session}` }] } });
  expect(await isThere()).toBe(true);
  expect(await outcomes()).toEqual([]);
});

test('work that has begun goes on when the caller hangs up, and stop waits for it', async () => {
  const remove = rig.store.remove.bind(rig.store);
  let begun = false;
  rig.store.remove = async (id) => {
    begun = true;
    expect(await outcomes()).toEqual(['delete_session started']);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await remove(id);
  };
  destroy(1);
  await asked();
  await rig.mcp.decide(rig.mcp.approvals()[0]?.id ?? '', 'approve');
  await until(() => begun, 'the work begins');
  line.destroy();
  await rig.restart();
  expect(await isThere()).toBe(false);
  expect(await outcomes()).toEqual(['delete_session started', 'delete_session succeeded']);
});

test('no tool of MCP can approve', async () => {
  const { result } = (await line.ask(1, 'tools/list')) as { result: { tools: { name: string }[] } };
  expect(result.tools.filter(({ name }) => /approv|decid/.test(name))).toEqual([]);
  expect(await line.ask(2, 'approvals/decide', { id: 'x' })).toMatchObject({ error: { code: -32601 } });
});

test('what a client limited to a tag records carries the tag, and what it may not see it cannot stop', async () => {
  await rig.mcp.set(clientId, { scope: { tags: ['own'], since: null, sessions: [] } });
  const foreign = await rig.recorder.start({ mic: true, system: true, pace: 'real' });
  const call = async (id: number, name: string): Promise<string> =>
    JSON.stringify(await line.ask(id, 'tools/call', { name, arguments: {} }));
  for (const [i, name] of ['start_recording', 'stop_recording', 'get_status', 'live_transcript', 'list_sessions'].entries())
    expect(await call(10 + i, name)).not.toContain(foreign.id);
  expect(rig.recorder.live()?.id).toBe(foreign.id);
  await rig.recorder.stop();
  const started = JSON.parse(await call(20, 'start_recording')) as { result: { structuredContent: { sessionId: string } } };
  const { sessionId } = started.result.structuredContent;
  expect((await rig.store.get(sessionId)).file.tags).toEqual(['own']);
  expect(await call(21, 'get_status')).toContain(sessionId);
  await rig.mcp.set(clientId, { scope: { tags: [], since: null, sessions: ['only-this'] } });
  await rig.recorder.stop();
  expect(await call(22, 'start_recording')).toContain('limited to certain sessions');
});

test('a live cursor goes on over a restart, with neither gap nor repeat', async () => {
  const { id } = await rig.recorder.start({ mic: true, system: true, pace: 'real' });
  const live = await rig.store.get(id);
  const say = (n: number) =>
    live.appendLine({
      track: 'room',
      start_ms: n * 1000,
      end_ms: n * 1000 + 900,
      text: `Line ${n}`,
      confidence: null,
      language: null,
      samples: [n * 16000, n * 16000 + 14400],
      model: 'm',
    });
  const texts: string[] = [];
  let cursor = {};
  const poll = async (n: number): Promise<void> => {
    const { result } = (await line.ask(n, 'tools/call', { name: 'live_transcript', arguments: { sessionId: id, ...cursor } })) as {
      result: { structuredContent: { epoch: string; sinceSequence: number; gap: boolean; text: string } };
    };
    const { epoch, sinceSequence, gap, text } = result.structuredContent;
    expect(gap).toBe(false);
    cursor = { epoch, sinceSequence };
    texts.push(...text.split('\n').filter((row) => row !== ''));
  };
  for (let n = 1; n <= 6; n++) {
    await say(n);
    if (n === 3)
      await live.addWarning({ code: 'device_lost', message: 'The microphone stopped delivering.', track: 'room', from_ms: 2950 });
    if (n % 2 === 0) await poll(n);
    if (n === 4) {
      const { token } = await rig.mcp.create({ name: 'again', access: 'enabled', toolsets: ['library'] });
      await rig.restart();
      line = await RawLines.open(rig.paths.mcpSocket, token);
    }
  }
  const told = texts.map((row) => /Line \d|stopped delivering/.exec(row)?.[0]);
  expect(told).toEqual(['Line 1', 'Line 2', 'stopped delivering', 'Line 3', 'Line 4', 'Line 5', 'Line 6']);
});
