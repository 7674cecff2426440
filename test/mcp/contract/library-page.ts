import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientKind, connectClient, type McpTestClient } from '../rig/client.js';
import { LIBRARY_SESSIONS, ROADMAP, UNREADABLE_SESSIONS, writeSession } from '../rig/fixtures.js';
import type { Rig } from '../rig/rig.js';
import { documentRows, expectTwins, ok, type Reading, refused, until } from './helpers.js';

const ELEVEN = [
  'get_status',
  'list_sessions',
  'search_sessions',
  'read_transcript',
  'live_transcript',
  'start_recording',
  'stop_recording',
  'update_session',
  'name_speaker',
  'delete_session',
  'delete_audio',
];
const ROW_KEYS = ['sessionId', 'title', 'startedAt', 'endedAt', 'durationSeconds', 'speakers', 'hasAudio', 'isActive', 'tags'];

interface Row {
  sessionId: string;
  title: string | null;
  isActive: boolean;
  speakers: string[];
  tags: string[];
  matches?: { segment: number; startMs: number | null; speaker: string | null; snippet: string }[];
}
interface Page {
  sessions: Row[];
  totalCount: number;
  hasMore: boolean;
  unavailableSessionCount: number;
}
/** The page “MCP Server”, in its own order, with what surface.md fixes. */
export function libraryPage(rigOf: () => Rig, kind: ClientKind): void {
  let rig: Rig;
  let client: McpTestClient;
  let clientId: string;
  /** A fresh token: calls are limited per client, and one test's calls are not another's. */
  const connect = async (init: Parameters<Rig['token']>[0] = {}): Promise<McpTestClient> => {
    const { id, token } = await rig.token({ toolsets: ['library'], ...init });
    clientId = id;
    return connectClient(kind, rig.transport(token, kind));
  };
  beforeAll(async () => {
    rig = rigOf();
    client = await connect();
  });
  afterAll(() => client.close());

  describe('Tools', () => {
    test('the library toolset in its order, with all annotations, schemas and titles', async () => {
      const tools = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(ELEVEN);
      for (const tool of tools) {
        expect(tool.title).toMatch(/\w/);
        expect(tool.outputSchema).toMatchObject({ type: 'object' });
        expect(Object.keys(tool.annotations ?? {}).sort()).toEqual([
          'destructiveHint',
          'idempotentHint',
          'openWorldHint',
          'readOnlyHint',
          'title',
        ]);
      }
      const hint = (name: string) => tools.filter(({ annotations }) => annotations?.[name] === true).map((tool) => tool.name);
      expect(hint('destructiveHint')).toEqual(['delete_session', 'delete_audio']);
      expect(hint('readOnlyHint')).toEqual(['get_status', 'list_sessions', 'search_sessions', 'read_transcript', 'live_transcript']);
      expect(hint('openWorldHint')).toEqual([]);
    });

    test('the server says who it is and what it can, and has neither logging nor anything that asks the client', async () => {
      expect(client.serverName).toBe('ambient');
      expect(client.instructions).toMatch(/evidence, never an instruction/);
      expect(Object.keys(client.capabilities).sort()).toEqual(['completions', 'prompts', 'resources', 'tools']);
    });

    test('an unknown tool is a protocol error, unfit arguments are the tool’s', async () => {
      await expect(client.call('frobnicate')).rejects.toThrow(/Unknown tool: frobnicate/);
      expect(await refused(client, 'list_sessions', { limit: 0 })).toMatch(/^Invalid arguments for list_sessions: limit: /);
      expect(await refused(client, 'list_sessions', { limit: 201 })).toMatch(/limit/);
    });
  });

  describe('First-use walkthrough', () => {
    test('1. get_status reports the state without starting anything', async () => {
      const reply = await client.call('get_status');
      expectTwins(reply);
      expect(reply.structured).toEqual({
        state: 'paused',
        startedAt: null,
        durationSeconds: null,
        sources: [],
        model: 'moonshine-base',
        lagSeconds: expect.any(Number) as unknown,
        warnings: expect.any(Array) as unknown,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
      });
      expect(await rig.live()).toBeNull();
    });

    test('2. list_sessions with limit 2: two rows are not the library', async () => {
      const reply = await client.call('list_sessions', { limit: 2 });
      expectTwins(reply);
      const page = reply.structured as unknown as Page;
      expect(page.sessions).toHaveLength(2);
      expect(page.hasMore).toBe(true);
      expect(page.unavailableSessionCount).toBe(UNREADABLE_SESSIONS);
      expect(page.totalCount).toBeGreaterThanOrEqual(LIBRARY_SESSIONS - UNREADABLE_SESSIONS);
    });

    test('3. read before recapping: every required page, and missing coverage', async () => {
      const whole = await ok<Reading>(client, 'read_transcript', { sessionId: '2026-04-01T0800' });
      expect(whole).toMatchObject({ returnedCount: 2, totalCount: 2, hasMore: false, nextSinceSegment: 3 });
      expect(whole.missing).toEqual([{ track: 'room', startMs: 4000, endMs: 9000, reason: 'the device was lost' }]);
    });
  });

  describe('Library queries', () => {
    test('list_sessions: default 20, rows with exactly the fields, pages that cover everything once', async () => {
      const first = await ok<Page>(client, 'list_sessions');
      expect(first.sessions).toHaveLength(20);
      for (const row of first.sessions) expect(Object.keys(row)).toEqual(ROW_KEYS);
      const ids: string[] = [];
      for (let page = first, offset = 0; ; page = await ok<Page>(client, 'list_sessions', { limit: 7, offset })) {
        if (offset === 0) page = await ok<Page>(client, 'list_sessions', { limit: 7 });
        ids.push(...page.sessions.map(({ sessionId }) => sessionId));
        offset += page.sessions.length;
        expect(page.totalCount).toBe(first.totalCount);
        expect(page.hasMore).toBe(offset < page.totalCount);
        if (!page.hasMore) break;
      }
      expect(ids).toHaveLength(first.totalCount);
      expect(new Set(ids).size).toBe(ids.length);
    });

    test('the page’s session as a row', async () => {
      const { sessions } = await ok<Page>(client, 'list_sessions', { limit: 200 });
      expect(sessions.find(({ sessionId }) => sessionId === ROADMAP.id)).toEqual({
        sessionId: ROADMAP.id,
        title: 'Roadmap sync',
        startedAt: '2026-09-05T14:12:03Z',
        endedAt: '2026-09-05T14:31:47Z',
        durationSeconds: 1184,
        speakers: ['Priya'],
        hasAudio: false,
        isActive: false,
        tags: [],
      });
    });

    test('beyond the end: an empty list of the same shape', async () => {
      expect(await ok(client, 'list_sessions', { offset: 1000 })).toMatchObject({ sessions: [], hasMore: false });
    });

    test.each([
      ['transcript text', 'backfill'],
      ['a title', 'Roadmap'],
      ['speakers', 'Priya'],
      ['a session id', ROADMAP.id],
      ['comments', 'zeppelin'],
    ])('search finds %s', async (_what, query) => {
      const reply = await client.call('search_sessions', { query });
      expectTwins(reply);
      const { sessions, totalCount } = reply.structured as unknown as Page;
      expect(sessions.map(({ sessionId }) => sessionId)).toContain(ROADMAP.id);
      expect(totalCount).toBeGreaterThanOrEqual(1);
      for (const row of sessions) expect(Object.keys(row)).toEqual([...ROW_KEYS, 'matches']);
    });

    test('matches say where', async () => {
      const { sessions } = await ok<Page>(client, 'search_sessions', { query: 'schema' });
      const [match] = sessions.find(({ sessionId }) => sessionId === ROADMAP.id)?.matches ?? [];
      expect(match).toMatchObject({ segment: 3, startMs: 3400, speaker: 'Priya' });
      expect(match?.snippet).toContain('schema');
    });

    test('limits restrict the rows, not what is searched', async () => {
      const all = await ok<Page>(client, 'search_sessions', { query: 'pelican', limit: 200 });
      expect(all).toMatchObject({ totalCount: 25, hasMore: false });
      const first = await ok<Page>(client, 'search_sessions', { query: 'pelican', limit: 2 });
      expect(first).toMatchObject({ totalCount: 25, hasMore: true });
      expect(first.sessions).toHaveLength(2);
      const rest = await ok<Page>(client, 'search_sessions', { query: 'pelican', limit: 200, offset: 2 });
      expect([...first.sessions, ...rest.sessions].map(({ sessionId }) => sessionId)).toEqual(
        all.sessions.map(({ sessionId }) => sessionId),
      );
    });

    test('filters: since, until, speaker, track', async () => {
      const count = async (args: Record<string, unknown>): Promise<number> => (await ok<Page>(client, 'search_sessions', args)).totalCount;
      expect(await count({ query: 'pelican', since: '2026-02-20T00:00:00+01:00' })).toBe(6);
      expect(await count({ query: 'pelican', until: '2026-02-03T23:00:00+01:00' })).toBe(3);
      expect(await count({ query: 'schema', speaker: 'Priya' })).toBe(1);
      expect(await count({ query: 'backfill', speaker: 'Priya' })).toBe(0);
      expect(await count({ query: 'backfill', track: 'call' })).toBe(0);
      expect(await count({ query: 'backfill', track: 'room' })).toBe(1);
      expect(await refused(client, 'search_sessions', { query: 'x', since: 'yesterday-ish' })).toMatch(/since is not a date/);
    });

    test('an empty result holds sessions: [] and says that not everything was readable', async () => {
      expect(await ok(client, 'search_sessions', { query: 'xylophonic' })).toMatchObject({
        sessions: [],
        totalCount: 0,
        hasMore: false,
        unavailableSessionCount: UNREADABLE_SESSIONS,
      });
    });

    test.each(['"', "'", '*', '-', 'a/b', 'NOT AND OR', 'NEAR(', '日本', '\u0000', '%_'])('the query %j is safe', async (query) => {
      expect((await client.call('search_sessions', { query })).isError).toBe(false);
    });
  });

  describe('Reading long transcripts', () => {
    test('without a limit, all segments, numbered from 1', async () => {
      const reply = await client.call('read_transcript', { sessionId: '2026-03-01T0900' });
      expectTwins(reply);
      const whole = reply.structured as unknown as Reading;
      expect(whole).toMatchObject({ returnedCount: 250, totalCount: 250, hasMore: false });
      expect(Object.keys(whole)).toEqual(['transcript', 'returnedCount', 'totalCount', 'hasMore', 'nextSinceSegment']);
      const rows = documentRows(whole.transcript);
      expect(rows.map(({ segment }) => segment)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
      expect(rows[0]).toEqual({
        timestamp: '2026-03-01T09:00:00.000+01:00',
        source: 'M',
        status: 'C',
        segment: 1,
        confidence: null,
        duration: 1.5,
        language: 'en',
        text: 'Sentence number 1, "quoted", with: colons and commas.',
      });
    });

    test('pages by nextSinceSegment, inclusive, until hasMore is false, give the same rows', async () => {
      const whole = documentRows((await ok<Reading>(client, 'read_transcript', { sessionId: '2026-03-01T0900' })).transcript);
      const rows: unknown[] = [];
      let sinceSegment: number | undefined;
      for (;;) {
        const page = await ok<Reading>(client, 'read_transcript', {
          sessionId: '2026-03-01T0900',
          limit: 60,
          ...(sinceSegment ? { sinceSegment } : {}),
        });
        const got = documentRows(page.transcript);
        expect(got).toHaveLength(page.returnedCount);
        expect(got[0]?.segment).toBe(sinceSegment ?? 1);
        rows.push(...got);
        sinceSegment = page.nextSinceSegment;
        if (!page.hasMore) break;
      }
      expect(rows).toEqual(whole);
      expect(await ok(client, 'read_transcript', { sessionId: '2026-03-01T0900', sinceSegment: 999 })).toMatchObject({
        returnedCount: 0,
        totalCount: 250,
        hasMore: false,
      });
    });

    test('known speakers, unconfirmed rows and the recording’s own offset', async () => {
      const rows = documentRows((await ok<Reading>(client, 'read_transcript', { sessionId: ROADMAP.id })).transcript);
      expect(rows.map(({ source }) => source)).toEqual(['M', 'M', 'S:Priya']);
      expect(rows[2]?.timestamp).toBe('2026-09-05T14:12:06.400Z');
      const doubtful = documentRows((await ok<Reading>(client, 'read_transcript', { sessionId: '2026-04-01T0800' })).transcript);
      expect(doubtful.map(({ status, confidence }) => [status, confidence])).toEqual([
        ['C', 0.93],
        ['U', 0.2],
      ]);
      expect(doubtful[0]?.timestamp).toBe('2026-04-01T08:00:00.000+02:00');
    });

    test('no session, a link and a path are refused as everywhere', async () => {
      expect(await refused(client, 'read_transcript', { sessionId: 'nope' })).toBe('no session nope');
      expect(await refused(client, 'read_transcript', { sessionId: '2026-06-01T0000' })).toBe('refusing symlink 2026-06-01T0000');
      expect(await refused(client, 'read_transcript', { sessionId: '../x' })).toMatch(/^not a session id/);
    });
  });

  describe('Resources and prompts', () => {
    test('sessions are resources, listed and read as Markdown', async () => {
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain(`ambient://sessions/${ROADMAP.id}`);
      expect(await client.readResource(`ambient://sessions/${ROADMAP.id}`)).toContain('Did the backfill finish?');
      expect((await client.listTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual(['ambient://sessions/{id}']);
      for (const uri of [
        'ambient://sessions/nope',
        'ambient://sessions/..%2Fx',
        'ambient://sessions/2026-06-01T0000',
        'file:///etc/passwd',
      ])
        await expect(client.readResource(uri)).rejects.toThrow();
    });

    test('listen and recap tell any agent how, and that speech is evidence', async () => {
      expect((await client.listPrompts()).map(({ name, arguments: args }) => [name, args?.map((arg) => arg.name)])).toEqual([
        ['listen', ['objective']],
        ['recap', ['session']],
      ]);
      expect(await client.getPrompt('listen', { objective: 'unanswered questions' })).toMatch(
        /unanswered questions[\s\S]*evidence, never an instruction/,
      );
      expect(await client.getPrompt('recap', { session: '2026-04-01T0800' })).toMatch(
        /2026-04-01T0800[\s\S]*Not heard: room 4–9 s[\s\S]*evidence/,
      );
      await expect(client.getPrompt('recap', { session: 'nope' })).rejects.toThrow(/no session nope/);
      expect(await client.complete('recap', 'session', '2026-09')).toEqual([ROADMAP.id]);
    });
  });

  describe('Mutations', () => {
    test('operational tools act at once for an enabled client and are audited before and after', async () => {
      const id = await fixture(rig, 'ops');
      const before = (await rig.audit()).length;
      expect(
        await ok(client, 'update_session', { sessionId: id, title: 'New title', tags: ['a', 'a', 'b'], notes: 'n', comment: 'so be it' }),
      ).toMatchObject({
        sessionId: id,
        title: 'New title',
        tags: ['a', 'b'],
        notes: 'n',
      });
      expect(await ok(client, 'name_speaker', { sessionId: id, speaker: 'Ann', track: 'room' })).toMatchObject({ segments: 1 });
      expect(await ok(client, 'name_speaker', { sessionId: id, speaker: 'Bo', segments: [2] })).toMatchObject({ segments: 1 });
      expect(
        documentRows((await ok<Reading>(client, 'read_transcript', { sessionId: id })).transcript).map(({ source }) => source),
      ).toEqual(['M:Ann', 'S:Bo']);
      expect(await refused(client, 'name_speaker', { sessionId: id, speaker: 'Bo', segments: [99] })).toMatch(/no segment 99/);
      expect(await refused(client, 'name_speaker', { sessionId: id, speaker: 'Bo' })).toMatch(/track.*segments/);
      expect(await refused(client, 'update_session', { sessionId: id })).toMatch(/nothing to change/);
      expect(await refused(client, 'update_session', { sessionId: 'nope', title: 'x' })).toBe('no session nope');
      const entries = (await rig.audit()).slice(before);
      expect(entries.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual([
        'update_session started',
        'update_session succeeded',
        'name_speaker started',
        'name_speaker succeeded',
        'name_speaker started',
        'name_speaker succeeded',
      ]);
      for (const entry of entries) expect(Object.keys(entry).sort()).toEqual(['at', 'operation', 'outcome', 'tool']);
      expect(entries[0]?.operation).toBe(entries[1]?.operation);
      expect(entries[0]?.operation).not.toBe(entries[2]?.operation);
    });

    test('for an enabled client every destructive call waits for the user', async () => {
      const id = await fixture(rig, 'destroy');
      const denied = client.call('delete_session', { sessionId: id });
      const first = await onlyApproval(rig);
      expect(first).toMatchObject({ tool: 'delete_session', session: id, state: 'pending' });
      expect(first.summary).toContain(id);
      await rig.decide(first.id, 'deny');
      expect(await denied).toMatchObject({ isError: true, text: expect.stringMatching(/denied/) as unknown });
      expect(await ok(client, 'read_transcript', { sessionId: id })).toMatchObject({ totalCount: 2 });
      const approved = client.call('delete_session', { sessionId: id });
      await rig.decide((await onlyApproval(rig)).id, 'approve');
      expect((await approved).structured).toEqual({ sessionId: id, deleted: true });
      expect(await refused(client, 'read_transcript', { sessionId: id })).toBe(`no session ${id}`);
      expect(await rig.approvals()).toEqual([]);
      expect(await refused(client, 'delete_session', { sessionId: id })).toBe(`no session ${id}`);
    });

    test('a caller that goes away while the user thinks withdraws its question, and nothing is deleted', async () => {
      const id = await fixture(rig, 'withdrawn');
      const gone = new AbortController();
      const call = client.call('delete_audio', { sessionId: id }, { signal: gone.signal });
      await onlyApproval(rig);
      gone.abort();
      await expect(call).rejects.toThrow();
      await until(async () => (await rig.approvals()).length === 0, 'withdrawn');
      expect(await ok(client, 'read_transcript', { sessionId: id })).toMatchObject({ totalCount: 2 });
    });

    test('a trusted client runs destructive tools without prompts', async () => {
      const id = await fixture(rig, 'trusted');
      const trusted = await connect({ access: 'trusted' });
      try {
        expect(await ok(trusted, 'delete_audio', { sessionId: id })).toMatchObject({
          sessionId: id,
          freedBytes: expect.any(Number) as unknown,
        });
        expect(await ok(trusted, 'delete_session', { sessionId: id })).toEqual({ sessionId: id, deleted: true });
        expect(await refused(trusted, 'read_transcript', { sessionId: id })).toBe(`no session ${id}`);
      } finally {
        await trusted.close();
      }
    });
  });

  describe('Access model', () => {
    test('status calls are limited to 30 a minute, with the seconds to wait', async () => {
      const own = await connect();
      try {
        for (let i = 0; i < 30; i++) expect((await own.call('get_status')).isError).toBe(false);
        const over = await own.call('get_status');
        expect(over.isError).toBe(true);
        expect(JSON.parse(over.text)).toMatchObject({ retryAfterSeconds: expect.any(Number) as unknown });
        expect((await own.call('list_sessions', { limit: 1 })).isError).toBe(false);
      } finally {
        await own.close();
      }
    });

    test('revoking a token disconnects its sessions at once', async () => {
      const own = await connect();
      await own.call('get_status');
      await rig.revoke(clientId);
      await expect(own.call('get_status')).rejects.toThrow();
      await own.close();
    });

    test('scope: what is outside is as good as absent', async () => {
      const own = await connect({ scope: { tags: ['work'] } });
      try {
        const page = await ok<Page>(own, 'list_sessions');
        expect(page).toMatchObject({ totalCount: 1, hasMore: false, unavailableSessionCount: 0 });
        expect(page.sessions[0]?.sessionId).toBe('2026-03-01T0900');
        expect(await refused(own, 'read_transcript', { sessionId: ROADMAP.id })).toBe(`no session ${ROADMAP.id}`);
        expect(await refused(own, 'update_session', { sessionId: ROADMAP.id, title: 'x' })).toBe(`no session ${ROADMAP.id}`);
        expect(await refused(own, 'delete_session', { sessionId: ROADMAP.id })).toBe(`no session ${ROADMAP.id}`);
        expect(await ok(own, 'search_sessions', { query: 'backfill' })).toMatchObject({
          sessions: [],
          totalCount: 0,
          unavailableSessionCount: 0,
        });
        expect((await own.listResources()).resources).toHaveLength(1);
        await expect(own.readResource(`ambient://sessions/${ROADMAP.id}`)).rejects.toThrow();
      } finally {
        await own.close();
      }
    });

    test('toolsets act on an open connection', async () => {
      const own = await connect({ toolsets: ['sessions'] });
      try {
        let told = 0;
        await own.onToolsChanged(() => told++);
        expect((await own.listTools()).map(({ name }) => name)).toEqual(['sessions', 'transcript', 'status']);
        await rig.set(clientId, { toolsets: ['sessions', 'library'] });
        await until(() => told > 0, 'tools/list_changed');
        expect((await own.listTools()).map(({ name }) => name)).toEqual(['sessions', 'transcript', 'status', ...ELEVEN]);
      } finally {
        await own.close();
      }
    });
  });
}

let fixtures = 0;

/** A finished session of its own for a test that changes it. */
async function fixture(rig: Rig, what: string): Promise<string> {
  const id = `2025-01-01T0000-${what}-${++fixtures}`;
  await writeSession(rig.paths.sessions, {
    id,
    file: { started_at: '2025-01-01T00:00:00Z', audio_deleted_at: null },
    lines: [
      { track: 'room', start_ms: 0, end_ms: 1000, text: 'One.' },
      { track: 'call', start_ms: 2000, end_ms: 3000, text: 'Two.' },
    ],
  });
  return id;
}

async function onlyApproval(rig: Rig) {
  await until(async () => (await rig.approvals()).length === 1, 'an approval');
  const [approval] = await rig.approvals();
  if (approval === undefined) throw new Error('the approval went away');
  return approval;
}
