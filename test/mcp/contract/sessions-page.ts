import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientKind, connectClient, type McpTestClient } from '../rig/client.js';
import { LIBRARY_SESSIONS, ROADMAP, UNREADABLE_SESSIONS } from '../rig/fixtures.js';
import type { Rig } from '../rig/rig.js';
import {
  expectCompactSorted,
  ok,
  type SessionRow as Row,
  refused,
  type SessionStatus as Status,
  type SessionTranscript as Transcript,
} from './helpers.js';

const ROW_KEYS = ['dir', 'duration_s', 'error', 'id', 'live', 'name', 'started_at', 'transcribed', 'transcribing'];
const SEVEN = ['sessions', 'transcript', 'status', 'watch_meeting', 'wait_for_transcript', 'speak', 'stop_watching'];

/** The page “Reading sessions from an assistant”, in its own order. */
export function sessionsPage(rigOf: () => Rig, kind: ClientKind): void {
  let rig: Rig;
  let token: string;
  let client: McpTestClient;
  beforeAll(async () => {
    rig = rigOf();
    ({ token } = await rig.token({ toolsets: ['sessions', 'assistant'] }));
    client = await connectClient(kind, rig.transport(token, kind));
  });
  afterAll(() => client.close());

  describe('Registering it', () => {
    test('the printf check prints the seven names, in order', async () => {
      const output = await rig.pipe(token, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
      const lines = output.trimEnd().split('\n');
      expect(lines).toHaveLength(1);
      const answer = JSON.parse(lines[0] ?? '') as { id: number; result: { tools: { name: string }[] } };
      expect(answer.id).toBe(1);
      expect(answer.result.tools.map(({ name }) => name)).toEqual(SEVEN);
    });

    test('the answer holds each tool’s name, description and input schema', async () => {
      const tools = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(SEVEN);
      for (const tool of tools) {
        expect(tool.description).toMatch(/\w{3,}.*\./);
        expect(tool.inputSchema).toMatchObject({ type: 'object' });
      }
    });

    test('one line a request, in both directions', async () => {
      const output = await rig.pipe(token, [1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`).join(''));
      const ids = output
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id);
      expect(ids.sort()).toEqual([1, 2, 3]);
    });
  });

  describe('The three session tools', () => {
    test('none of them writes: every file is as it was, and they say so', async () => {
      const before = await fingerprint(rig.paths.sessions);
      await ok(client, 'status');
      await ok(client, 'sessions');
      await ok(client, 'transcript', { session: ROADMAP.id });
      await refused(client, 'transcript', { session: 'nope' });
      expect(await fingerprint(rig.paths.sessions)).toEqual(before);
      for (const tool of (await client.listTools()).slice(0, 3)) expect(tool.annotations).toMatchObject({ readOnlyHint: true });
    });

    test('every tool answers in the MCP shape with compact JSON on one line, keys sorted', async () => {
      for (const [tool, args] of [
        ['status', {}],
        ['sessions', {}],
        ['transcript', { session: ROADMAP.id }],
      ] as const) {
        const reply = await client.call(tool, args);
        expect(reply.isError).toBe(false);
        expect(reply.content).toEqual([{ type: 'text', text: reply.text }]);
        expectCompactSorted(reply.text);
      }
    });

    test('a tool that ran and failed answers isError with the reason as plain text', async () => {
      expect(await refused(client, 'transcript', { session: 'nope' })).toBe('no session nope');
    });

    test('no arguments are needed, and null or absent ones are fine', async () => {
      expect(Object.keys(await ok<Status>(client, 'status', {}))).toEqual(['awaiting_transcript', 'live', 'sessions']);
    });
  });

  describe('status', () => {
    test('live is null when nothing is recording, and `sessions` is how many `sessions` lists', async () => {
      const status = await ok<Status>(client, 'status');
      expect(status.live).toBeNull();
      expect(status.sessions).toBe((await ok<Row[]>(client, 'sessions')).length);
      expect(status.awaiting_transcript).toBe(0);
    });
  });

  describe('sessions', () => {
    test('rows have exactly the fields of the page', async () => {
      const rows = await ok<Row[]>(client, 'sessions');
      expect(rows.length).toBeGreaterThanOrEqual(LIBRARY_SESSIONS);
      for (const row of rows) expect(Object.keys(row)).toEqual(ROW_KEYS);
    });

    test('the page’s example row', async () => {
      const row = (await ok<Row[]>(client, 'sessions')).find(({ id }) => id === ROADMAP.id);
      expect(row).toEqual({
        dir: path.join(rig.paths.sessions, ROADMAP.id),
        duration_s: 1184,
        error: null,
        id: '2026-09-05T1412',
        live: false,
        name: 'Roadmap sync',
        started_at: '2026-09-05T14:12:03Z',
        transcribed: true,
        transcribing: false,
      });
    });

    test('newest first', async () => {
      const starts = (await ok<Row[]>(client, 'sessions')).flatMap(({ started_at }) =>
        started_at === null ? [] : [Date.parse(started_at)],
      );
      expect(starts).toEqual([...starts].sort((a, b) => b - a));
    });

    test('a session whose session.json will not parse comes back with error set', async () => {
      const rows = await ok<Row[]>(client, 'sessions');
      const broken = rows.find(({ id }) => id === '2026-05-01T0000');
      expect(broken).toMatchObject({ live: false, transcribed: false, name: null });
      expect(broken?.error).toEqual(expect.stringMatching(/\w/));
      expect(rows.filter(({ error }) => error !== null)).toHaveLength(UNREADABLE_SESSIONS);
    });

    test('symlinks are skipped', async () => {
      const ids = (await ok<Row[]>(client, 'sessions')).map(({ id }) => id);
      expect(ids).not.toContain('2026-06-01T0000');
    });
  });

  describe('transcript', () => {
    test('the page’s example, word for word', async () => {
      expect(await ok(client, 'transcript', { session: '2026-09-05T1412' })).toEqual({
        lines: [
          { end_ms: 3120, speaker: null, start_ms: 0, text: 'Right, shall we start with the migration?', track: 'room' },
          { end_ms: 11040, speaker: null, start_ms: 8200, text: 'Did the backfill finish?', track: 'room' },
          { end_ms: 7980, speaker: 'Priya', start_ms: 3400, text: 'Yes. I pushed the schema change on Friday.', track: 'call' },
        ],
        next: 3,
        session: '2026-09-05T1412',
        state: 'done',
      });
    });

    test('verbatim leaves naming edits out', async () => {
      const { lines } = await ok<Transcript>(client, 'transcript', { session: ROADMAP.id, verbatim: true });
      expect(lines.map(({ speaker }) => speaker)).toEqual([null, null, null]);
      const folded = await ok<Transcript>(client, 'transcript', { session: ROADMAP.id, verbatim: false });
      expect(folded.lines.map(({ speaker }) => speaker)).toEqual([null, null, 'Priya']);
    });

    test('session is required', async () => {
      expect(await refused(client, 'transcript')).toMatch(/session/);
      expect(await refused(client, 'transcript', { session: 7 })).toMatch(/session/);
    });

    test('since counts lines: the cursor gives only what came after', async () => {
      const reply = await client.call('transcript', { session: ROADMAP.id, since: 3 });
      expect(reply.text).toBe('{"lines":[],"next":3,"session":"2026-09-05T1412","state":"done"}');
      const last = await ok<Transcript>(client, 'transcript', { session: ROADMAP.id, since: 2 });
      expect(last.lines.map(({ track }) => track)).toEqual(['call']);
      expect(last.next).toBe(3);
    });

    test('since beyond the end gives no lines and the true next', async () => {
      expect(await ok(client, 'transcript', { session: ROADMAP.id, since: 99 })).toMatchObject({ lines: [], next: 3 });
      expect(await refused(client, 'transcript', { session: ROADMAP.id, since: -1 })).toMatch(/since/);
    });
  });

  describe('When it will not answer', () => {
    test.each([
      ['../something', 'not a session id: "../something"'],
      ['', 'not a session id: ""'],
      ['.', 'not a session id: "."'],
      ['..', 'not a session id: ".."'],
      ['a/b', 'not a session id: "a/b"'],
      ['/etc/passwd', 'not a session id: "/etc/passwd"'],
      ['2026-06-01T0000', 'refusing symlink 2026-06-01T0000'],
      ['2026-06-02T0000', 'refusing symlink assistant.jsonl'],
    ])('session %j is refused: %s', async (session, reason) => {
      expect(await refused(client, 'transcript', { session })).toBe(reason);
    });

    test('a malformed line gets an error back and the loop keeps going', async () => {
      const output = await rig.pipe(token, 'rubbish\n{"jsonrpc":"2.0","id":9,"method":"tools/list"}\n');
      const [error, answer] = output
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(error).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
      expect(answer).toMatchObject({ id: 9, result: { tools: expect.any(Array) as unknown } });
    });

    test('nothing of a link’s target is ever shown', async () => {
      const all = JSON.stringify(await ok(client, 'sessions'));
      expect(all).not.toContain('SECRET');
    });
  });

  describe('The live assistant', () => {
    test('its four tools and the prompt refuse honestly in this version', async () => {
      for (const [tool, args] of [
        ['watch_meeting', {}],
        ['wait_for_transcript', { timeout_s: 120 }],
        ['speak', { text: 'Hello', tone: 'warm' }],
        ['stop_watching', {}],
      ] as const)
        expect(await refused(client, tool, args)).toMatch(/not in this version/);
      expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['watch']);
      expect(await client.getPrompt('watch', { focus: 'money' })).toMatch(/not in this version[\s\S]*money/);
    });
  });
}

/** A digest of every file under a folder, links not followed. */
async function fingerprint(dir: string): Promise<Record<string, string>> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  const found: Record<string, string> = {};
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    found[path.relative(dir, file)] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  }
  return found;
}
