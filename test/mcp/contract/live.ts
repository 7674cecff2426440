import { expect, test } from 'vitest';
import { CLIENT_KINDS, connectClient, type McpTestClient } from '../rig/client.js';
import { ROADMAP } from '../rig/fixtures.js';
import type { Rig } from '../rig/rig.js';
import {
  documentRows,
  expectTwins,
  liveRows,
  ok,
  type Reading,
  refused,
  type SessionRow,
  type SessionStatus,
  type SessionTranscript,
  type TranscriptRow,
  until,
} from './helpers.js';

const LIVE_SCHEMA = 'transcript{timestamp,source,status,segment,confidence,duration,language,text}';
const ENVELOPE_KEYS = ['sessionId', 'state', 'epoch', 'sinceSequence', 'gap', 'sessionChanged', 'minPollIntervalSeconds', 'schema', 'text'];

interface Envelope {
  sessionId?: string;
  state: string;
  epoch: string;
  sinceSequence: number;
  gap: boolean;
  sessionChanged: boolean;
  schema: string;
  text: string;
}

/** What both pages say of a recording in progress: every kind of client follows the same recording, side by side. */
export function liveSuite(rigOf: () => Rig): void {
  test('sessions page, following a session: every line once, the order stable, the cursor a line count', async () => {
    const rig = rigOf();
    const clients = await connectAll(rig, 'sessions');
    try {
      await followThrough(rig, clients);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });

  test('library page, listening: bound to the session, long polls, mismatch, pause, scoped stop, resource updates', async () => {
    const rig = rigOf();
    const clients = await connectAll(rig, 'library');
    try {
      await listenThrough(rig, clients);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });
}

function connectAll(rig: Rig, toolset: 'sessions' | 'library'): Promise<McpTestClient[]> {
  return Promise.all(
    CLIENT_KINDS.map(async (kind) => {
      const { token } = await rig.token({ toolsets: [toolset] });
      return connectClient(kind, rig.transport(token, kind));
    }),
  );
}

async function followThrough(rig: Rig, clients: readonly McpTestClient[]): Promise<void> {
  const id = await rig.start('Followed');
  const followers = clients.map((client) => ({ client, seen: [] as SessionTranscript['lines'], next: 0 }));
  type Follower = (typeof followers)[number];
  const each = (step: (follower: Follower) => Promise<void>) => Promise.all(followers.map(step));
  const read = async (follower: Follower): Promise<SessionTranscript> => {
    const more = await ok<SessionTranscript>(follower.client, 'transcript', { session: id, since: follower.next });
    expect(more).toMatchObject({ session: id, next: follower.next + more.lines.length });
    follower.seen.push(...more.lines);
    follower.next = more.next;
    return more;
  };
  await each(async (follower) => {
    expect((await ok<SessionRow[]>(follower.client, 'sessions'))[0]).toMatchObject({ id, live: true, error: null, transcribed: false });
    expect(await ok<SessionStatus>(follower.client, 'status')).toMatchObject({ live: { id } });
    expect((await read(follower)).state).toBe('live');
    // Caught up: nothing new is an empty reply of the page's own shape.
    const { text } = await follower.client.call('transcript', { session: id, since: 1_000_000 });
    expect(text).toMatch(new RegExp(`^{"lines":\\[\\],"next":\\d+,"session":"${id}","state":"live"}$`));
  });
  for (let heard = 0; heard < 2; heard++) {
    await rig.heard();
    await each(async (follower) => {
      const more = await read(follower);
      expect(more.state).toBe('live');
      expect(more.lines.length).toBeGreaterThan(0);
    });
  }
  await rig.stop();
  await each(async (follower) => expect(['transcribing', 'pending', 'done']).toContain((await read(follower)).state));
  const finished = rig.finished(id);
  await until(async () => {
    const states = await Promise.all(followers.map(async (follower) => (await read(follower)).state));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return states.every((state) => state === 'done');
  }, 'done');
  await finished;
  await each(async ({ client, seen }) => {
    const whole = await ok<SessionTranscript>(client, 'transcript', { session: id, since: 0 });
    expect(whole).toMatchObject({ state: 'done', next: seen.length });
    expect(whole.lines).toEqual(seen);
    expect(new Set(whole.lines.map(({ track }) => track))).toEqual(new Set(['room', 'call']));
    expect(await ok<SessionStatus>(client, 'status')).toMatchObject({ live: null, awaiting_transcript: 0 });
  });
}

/** What a listening agent does, from the first status to the end of the session. */
async function listenThrough(rig: Rig, clients: readonly McpTestClient[]): Promise<void> {
  const [first] = clients;
  if (first === undefined) throw new Error('no clients');
  const id = rig.records ? await startByTool(first) : await rig.start('Heard along');
  const uri = `ambient://sessions/${id}`;
  const listeners = clients.map((client) => ({
    client,
    rows: [] as TranscriptRow[],
    updates: [] as string[],
    unsubscribe: async (): Promise<void> => undefined,
    at: { epoch: '', sinceSequence: 0 },
  }));
  type Listener = (typeof listeners)[number];
  const each = (step: (listener: Listener) => Promise<void>) => Promise.all(listeners.map(step));
  const take = (listener: Listener, envelope: Envelope): Envelope => {
    expect(envelope).toMatchObject({ sessionId: id, gap: false, sessionChanged: false, schema: LIVE_SCHEMA });
    listener.at = { epoch: envelope.epoch, sinceSequence: envelope.sinceSequence };
    listener.rows.push(...liveRows(envelope.text, envelope.schema));
    return envelope;
  };
  const poll = async (listener: Listener, waitSeconds: number): Promise<Envelope> =>
    take(listener, await ok<Envelope>(listener.client, 'live_transcript', { sessionId: id, ...listener.at, waitSeconds }));

  await each(async (listener) => {
    const { client } = listener;
    expect(await ok(client, 'start_recording', {})).toMatchObject({ sessionId: id, alreadyRunning: true });
    const status = await ok(client, 'get_status');
    expect(['recording', 'listening']).toContain(status.state);
    expect(status).toMatchObject({ sessionId: id, sources: ['microphone', 'system'] });
    expect(status.startedAt).toEqual(expect.any(String));
    expect(status.durationSeconds).toEqual(expect.any(Number));
    const { sessions } = await ok<{ sessions: unknown[] }>(client, 'list_sessions', { limit: 1 });
    expect(sessions[0]).toMatchObject({ sessionId: id, isActive: true });
    listener.unsubscribe = await client.subscribe(uri, (updated) => listener.updates.push(updated));
    const reply = await client.call('live_transcript', { sessionId: id });
    expectTwins(reply);
    expect(Object.keys(reply.structured ?? {})).toEqual(ENVELOPE_KEYS);
    expect(reply.structured).toMatchObject({ minPollIntervalSeconds: 3 });
    take(listener, reply.structured as unknown as Envelope);
  });

  // A caught-up call waits, and returns with the speech that comes.
  for (let heard = 0; heard < 2; heard++) {
    const waiting = each(async (listener) => expect((await poll(listener, 20)).text).not.toBe(''));
    await rig.heard();
    await waiting;
  }
  await each(async (listener) => {
    await until(() => listener.updates.includes(uri), 'resources/updated');
    await listener.unsubscribe();
  });

  // The cursor of another log is a gap; a session that is not the active one gives no text.
  await each(async ({ client, at }) => {
    expect(await ok(client, 'live_transcript', { sessionId: id, sinceSequence: 1, epoch: 'another' })).toMatchObject({
      gap: true,
      epoch: at.epoch,
    });
    expect(await ok(client, 'live_transcript', { sessionId: ROADMAP.id })).toMatchObject({ sessionChanged: true, text: '' });
    expect(await refused(client, 'live_transcript', { sessionId: 'nope' })).toBe('no session nope');
    expect(await refused(client, 'live_transcript', { waitSeconds: 21 })).toMatch(/waitSeconds/);
  });

  // A change of state ends a wait.
  await rig.pause();
  await each((listener) =>
    until(async () => {
      const { state, text } = await poll(listener, 0);
      await new Promise((resolve) => setTimeout(resolve, 400));
      return state === 'paused' && text === '';
    }, 'the pause'),
  );
  const waiting = each(async (listener) => {
    const began = performance.now();
    await poll(listener, 20);
    expect(performance.now() - began).toBeLessThan(19_000);
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await rig.resume();
  await waiting;

  // Stopping another session stops nothing; the scoped stop stops this one.
  await each(async ({ client }) => {
    expect(await refused(client, 'stop_recording', { sessionId: ROADMAP.id })).toMatch(/nothing was stopped/);
    expect(await refused(client, 'delete_session', { sessionId: id })).toMatch(/being recorded/);
  });
  expect(await rig.live()).toBe(id);
  expect(await ok(first, 'stop_recording', { sessionId: id })).toMatchObject({
    sessionId: id,
    durationSeconds: expect.any(Number) as unknown,
  });
  expect(await rig.live()).toBeNull();
  await each(async ({ client }) => expect(await refused(client, 'stop_recording', {})).toMatch(/Nothing is being recorded/));

  // What is left of a stopped session still comes, with `paused`.
  const finished = rig.finished(id);
  await each(async (listener) => {
    for (let text = ' '; text !== ''; ) {
      const envelope = await poll(listener, 2);
      expect(envelope.state).toBe('paused');
      text = envelope.text;
    }
  });
  await finished;
  await each(async (listener) => {
    await poll(listener, 0);
    const read = documentRows((await ok<Reading>(listener.client, 'read_transcript', { sessionId: id })).transcript);
    const spoken = listener.rows.filter(({ source }) => source !== 'E');
    expect(spoken.map(({ segment, text }) => ({ segment, text }))).toEqual(read.map(({ segment, text }) => ({ segment, text })));
    for (const row of listener.rows) expect(row.source).toMatch(/^(M|S|E)/);
  });
}

async function startByTool(client: McpTestClient): Promise<string> {
  const started = await ok(client, 'start_recording', { title: 'Heard along' });
  expect(started).toMatchObject({ title: 'Heard along', alreadyRunning: false, sources: ['microphone', 'system'], warnings: [] });
  return String(started.sessionId);
}
