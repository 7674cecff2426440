import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT_KINDS, connectClient } from './rig/client.js';
import { type InProcess, inProcess } from './rig/in-process.js';
import { SocketClientTransport } from './rig/socket-transport.js';

let rig: InProcess;
beforeAll(async () => {
  rig = await inProcess();
});
afterAll(() => rig.close());

test.each(CLIENT_KINDS)('%s', async (kind) => {
  const { token } = await rig.mcp.create({ name: kind, access: 'enabled', toolsets: ['sessions', 'assistant', 'library'] });
  await rig.addSession({
    name: 'Roadmap sync',
    lines: [
      ['room', 'Right, shall we start?'],
      ['call', 'Yes. I pushed it, "Friday".'],
    ],
  });
  const client = await connectClient(kind, new SocketClientTransport(rig.paths.mcpSocket, token));
  console.log((await client.listTools()).map((t) => t.name).join());
  for (const [n, a] of [
    ['status', {}],
    ['sessions', {}],
    ['transcript', { session: (await rig.store.ids())[0] }],
    ['transcript', { session: 'nope' }],
    ['transcript', { session: '../x' }],
    ['transcript', {}],
    ['get_status', {}],
    ['list_sessions', { limit: 1 }],
    ['search_sessions', { query: 'pushed' }],
    ['read_transcript', { sessionId: (await rig.store.ids())[0] }],
    ['live_transcript', {}],
    ['speak', { text: 'x' }],
  ] as const) {
    const r = await client.call(n, a);
    console.log(n, r.isError, r.text);
  }
  console.log(await client.listPrompts(), await client.listResources(), await client.listTemplates());
  console.log(await client.getPrompt('recap', {}));
  await client.close();
  expect(1).toBe(1);
});
