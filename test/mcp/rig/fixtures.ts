import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Edit, RawLine, SessionFile, Track } from '@ambient/contract';
import { doneSession } from '@ambient/contract/test-kit';

export interface FixtureLine {
  readonly track: Track;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
  readonly confidence?: number;
}

export interface Fixture {
  readonly id: string;
  readonly file?: Partial<SessionFile>;
  readonly lines?: readonly FixtureLine[];
  readonly edits?: readonly Edit[];
}

/** The session that the examples of the sessions page show. */
export const ROADMAP: Fixture = {
  id: '2026-09-05T1412',
  file: { name: 'Roadmap sync', started_at: '2026-09-05T14:12:03Z', ended_at: '2026-09-05T14:31:47Z', duration_s: 1184 },
  lines: [
    { track: 'room', start_ms: 0, end_ms: 3120, text: 'Right, shall we start with the migration?' },
    { track: 'room', start_ms: 8200, end_ms: 11040, text: 'Did the backfill finish?' },
    { track: 'call', start_ms: 3400, end_ms: 7980, text: 'Yes. I pushed the schema change on Friday.' },
  ],
  edits: [
    { op: 'name', id: 'e1', at: '2026-09-05T15:00:00Z', track: 'call', speaker: 'Priya' },
    { op: 'comment', id: 'e2', at: '2026-09-05T15:01:00Z', text: 'Ask about the zeppelin budget' },
  ],
};

/** Writes a session folder as one that was copied in from elsewhere. */
export async function writeSession(sessions: string, { id, file = {}, lines = [], edits = [] }: Fixture): Promise<void> {
  const dir = path.join(sessions, id);
  await mkdir(path.join(dir, 'audio'), { recursive: true, mode: 0o700 });
  const content = doneSession(id, {
    origin: 'import',
    started_at: '2026-01-02T03:04:05+01:00',
    ended_at: '2026-01-02T03:05:05+01:00',
    duration_s: 60,
    model: 'moonshine-base',
    language: 'en',
    ...file,
  });
  const raw = lines.map(
    (line): RawLine => ({
      ...line,
      confidence: line.confidence ?? null,
      language: 'en',
      samples: [line.start_ms * 16, line.end_ms * 16],
      model: 'moonshine-base',
    }),
  );
  const jsonl = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  await writeFile(path.join(dir, 'session.json'), JSON.stringify(content));
  await writeFile(path.join(dir, 'raw.jsonl'), jsonl(raw));
  if (edits.length > 0) await writeFile(path.join(dir, 'edits.jsonl'), jsonl(edits));
  await writeFile(path.join(dir, 'transcript.md'), '# Transcript\n');
}

/** A long transcript of `count` lines, both tracks in turn. */
export function longSession(id: string, count: number): Fixture {
  return {
    id,
    file: { name: 'Long one', started_at: '2026-03-01T09:00:00+01:00', duration_s: count * 2, tags: ['work'] },
    lines: Array.from({ length: count }, (_, i) => ({
      track: i % 2 === 0 ? 'room' : 'call',
      start_ms: i * 2000,
      end_ms: i * 2000 + 1500,
      text: `Sentence number ${i + 1}, "quoted", with: colons and commas.`,
    })),
  };
}

/** Everything the contract suites read: the page's session, others beside it, a broken one, and links. */
export async function writeLibrary(sessions: string, outside: string): Promise<void> {
  await mkdir(sessions, { recursive: true, mode: 0o700 });
  await writeSession(sessions, ROADMAP);
  await writeSession(sessions, longSession('2026-03-01T0900', 250));
  for (let i = 1; i <= 25; i++)
    await writeSession(sessions, {
      id: `2026-02-${String(i).padStart(2, '0')}T1000`,
      file: { name: `Standup ${i}`, started_at: `2026-02-${String(i).padStart(2, '0')}T10:00:00+01:00`, tags: i % 2 ? ['odd'] : [] },
      lines: [{ track: 'room', start_ms: 0, end_ms: 1500, text: `Standup number ${i} about the pelican launch.` }],
    });
  await writeSession(sessions, {
    id: '2026-04-01T0800',
    file: {
      name: 'With a hole',
      started_at: '2026-04-01T08:00:00+02:00',
      coverage: [{ track: 'room', from_ms: 4000, to_ms: 9000, reason: 'device_lost' }],
      warnings: [{ code: 'device_lost', message: 'The microphone stopped delivering.', at: '2026-04-01T08:00:04+02:00', track: 'room' }],
    },
    lines: [
      { track: 'room', start_ms: 0, end_ms: 1500, text: 'Before the hole.', confidence: 0.93 },
      { track: 'call', start_ms: 10_000, end_ms: 11_500, text: 'After the hole.', confidence: 0.2 },
    ],
  });
  await mkdir(path.join(sessions, '2026-05-01T0000'));
  await writeFile(path.join(sessions, '2026-05-01T0000', 'session.json'), '{ this is not JSON');
  // Links, to a folder and to a file, beside real sessions and inside one.
  await writeSession(outside, {
    id: 'elsewhere',
    file: { name: 'SECRET title' },
    lines: [{ track: 'room', start_ms: 0, end_ms: 1, text: 'SECRET words' }],
  });
  await symlink(path.join(outside, 'elsewhere'), path.join(sessions, '2026-06-01T0000'));
  await writeSession(sessions, { id: '2026-06-02T0000' });
  await symlink(path.join(outside, 'elsewhere', 'raw.jsonl'), path.join(sessions, '2026-06-02T0000', 'assistant.jsonl'));
}

/** Sessions of `writeLibrary` that are real folders. */
export const LIBRARY_SESSIONS = 30;
/** Those of them that cannot be read: broken JSON, and a link inside. */
export const UNREADABLE_SESSIONS = 2;
