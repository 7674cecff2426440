import { constants, lstatSync, realpathSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionOfUri } from '../../services/daemon/src/mcp/resources.js';
import { ScopedSessions } from '../../services/daemon/src/mcp/scoped-sessions.js';
import { isPlainSegment } from '../../services/daemon/src/platform/files.js';
import { writeSession } from './rig/fixtures.js';
import { type InProcess, inProcess } from './rig/in-process.js';
import { RawLines } from './rig/socket-transport.js';

const RUNS = 100_000;
const FILES = ['session.json', 'raw.jsonl', 'edits.jsonl', 'transcript.md', 'assistant.jsonl'];

let rig: InProcess;
let outside: string;
/** Names in the sessions folder that are links, or folders with links inside. */
const farm: string[] = [];
beforeAll(async () => {
  rig = await inProcess({
    prepare: async ({ home, sessions }) => {
      outside = path.join(home, 'outside');
      await mkdir(sessions, { recursive: true });
      const line = { track: 'room', start_ms: 0, end_ms: 1, text: 'SECRET words' } as const;
      await writeSession(outside, { id: 'secret', file: { name: 'SECRET title', tags: ['SECRET'] }, lines: [line] });
      await writeFile(path.join(outside, 'secret', 'assistant.jsonl'), '{"text":"SECRET"}\n');
      await writeFile(path.join(outside, 'secret', 'edits.jsonl'), '');
      await writeSession(sessions, { id: 'honest', lines: [{ ...line, text: 'Harmless.' }] });
      await plantLinks(sessions, path.join(outside, 'secret'));
    },
  });
});
afterAll(() => rig.close());

/** Links of every sort: to folders and files, absolute and relative, dangling, in a loop, in a file's place. */
async function plantLinks(sessions: string, secret: string): Promise<void> {
  const plant = async (name: string, target: string): Promise<void> => {
    farm.push(name);
    await symlink(target, path.join(sessions, name));
  };
  await plant('absolute', secret);
  await plant('relative', path.relative(sessions, secret));
  await plant('parent', '..');
  await plant('itself', '.');
  await plant('root', '/');
  await plant('loop', 'loop');
  await plant('dangling', path.join(secret, 'nothing'));
  await plant('to-file', path.join(secret, 'raw.jsonl'));
  await plant('to-neighbour', 'honest');
  await plant('chain', 'absolute');
  for (const file of FILES) {
    const id = `inside-${file}`;
    farm.push(id);
    await writeSession(sessions, { id });
    await rm(path.join(sessions, id, file), { force: true });
    await symlink(path.join(secret, file), path.join(sessions, id, file));
  }
  const id = 'inside-audio';
  farm.push(id);
  await writeSession(sessions, { id });
  await rm(path.join(sessions, id, 'audio'), { recursive: true });
  await symlink(secret, path.join(sessions, id, 'audio'));
}

interface DiskCall {
  readonly call: string;
  readonly file: string;
  /** A link at the end of the path would be followed. */
  readonly follows: boolean;
}
type AnyFunction = (...args: unknown[]) => unknown;

const CALLS = [
  'open',
  'readFile',
  'stat',
  'lstat',
  'readdir',
  'access',
  'realpath',
  'readlink',
  'opendir',
  'truncate',
  'writeFile',
  'rename',
];
const NEVER_FOLLOW = ['lstat', 'readlink', 'rename'];

/** Everything asked of the disk while `use` runs, by promise, callback or at once. */
async function traced(use: () => Promise<void>): Promise<DiskCall[]> {
  const require = createRequire(import.meta.url);
  const seen: DiskCall[] = [];
  const undo: (() => void)[] = [];
  for (const module of [require('node:fs/promises'), require('node:fs')] as Record<string, AnyFunction>[])
    for (const call of CALLS.flatMap((name) => [name, `${name}Sync`])) {
      const original = module[call];
      if (original === undefined) continue;
      undo.push(() => {
        module[call] = original;
      });
      module[call] = (...args) => {
        const [file, flags] = args;
        // A handle was opened before, by its path.
        if (typeof file !== 'string') return original(...args);
        const name = call.replace('Sync', '');
        const follows = name === 'open' ? (Number(flags ?? 0) & constants.O_NOFOLLOW) === 0 : !NEVER_FOLLOW.includes(name);
        seen.push({ call, file, follows });
        return original(...args);
      };
    }
  syncBuiltinESMExports();
  try {
    await use();
  } finally {
    for (const restore of undo) restore();
    syncBuiltinESMExports();
  }
  return seen;
}

/** No path that was asked for leads out of the sessions folder. */
function expectInside(seen: readonly DiskCall[]): void {
  const sessions = realpathSync(rig.paths.sessions);
  const isInside = (file: string): boolean => file === sessions || file.startsWith(`${sessions}/`);
  const checked = new Set<string>();
  for (const { call, file, follows } of seen) {
    // The daemon looks every few seconds whether its own socket is still there.
    if (call === 'lstat' && file === rig.paths.mcpSocket) continue;
    const key = `${file} ${follows}`;
    if (checked.has(key)) continue;
    checked.add(key);
    const resolved = path.resolve(file);
    expect(isInside(resolved), `${call} ${file}`).toBe(true);
    if (resolved === sessions) continue;
    const parent = real(path.dirname(resolved));
    expect(parent === undefined || isInside(parent), `${call} ${file}`).toBe(true);
    const isLink = lstatSync(resolved, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    expect(isLink && follows, `${call} follows ${file}`).toBe(false);
  }
}

function real(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

const piece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '/',
    '\\',
    '',
    '~',
    '\u0000',
    '%2e%2e',
    '%2f',
    '..%2f',
    '%00',
    '..;',
    '\uff0e\uff0e',
    '\u2215',
    '\u2044',
    '/etc/passwd',
    'file://',
    'C:',
    '\n',
    ' ',
    '-',
    'CON',
  ),
  fc.constantFrom('honest', 'absolute', 'parent', 'root', 'itself', 'to-neighbour', 'session.json', 'raw.jsonl', 'secret', 'outside'),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const argument = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('/')),
  fc.nat(2_000).map((n) => '../'.repeat(n % 60) + 'x'.repeat(n)),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'last',
    'live',
    'hones',
    'Honest',
    'honest ',
    ' honest',
    'honest/',
    './honest',
    'honest\u0000',
  ),
);

test(`no session argument of ${RUNS} hostile ones reads anything outside the sessions folder`, { timeout: 180_000 }, async () => {
  const { store } = rig;
  const get = store.get.bind(store);
  let reached = 0;
  store.get = (id) => {
    reached++;
    expect(isPlainSegment(id)).toBe(true);
    return get(id);
  };
  const sessions = new ScopedSessions(store, rig.recorder, () => ({ tags: [], since: null, sessions: [] }));
  let refused = 0;
  try {
    const seen = await traced(async () => {
      await fc.assert(
        fc.asyncProperty(argument, async (arg) => {
          const opened = await sessions.open(arg).catch((error: unknown) => {
            expect(error).toMatchObject({
              name: 'AmbientError',
              code: expect.stringMatching(/^(bad_request|not_found|refused_symlink|unavailable)$/),
            });
            return undefined;
          });
          if (opened === undefined) refused++;
          else expect(arg).toBe('honest');
          const ofUri = sessionOfUri(`ambient://sessions/${arg}`);
          if (ofUri !== undefined) expect(isPlainSegment(ofUri)).toBe(true);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    });
    expectInside(seen);
    expect(seen.length).toBeGreaterThanOrEqual(reached);
    console.log(
      `${RUNS} hostile arguments: ${refused} refused, ${reached} of them looked up as plain names, ${seen.length} disk calls, all inside`,
    );
  } finally {
    store.get = get;
  }
  expect(refused).toBeGreaterThan(RUNS * 0.9);
  expect(reached).toBeGreaterThan(RUNS / 10);
});

test('a folder full of links gives nothing away through any tool, resource or prompt', async () => {
  const { token } = await rig.mcp.create({ name: 'reader', access: 'trusted', toolsets: ['sessions', 'library'] });
  const line = await RawLines.open(rig.paths.mcpSocket, token);
  let id = 0;
  const answers: string[] = [];
  const ask = async (method: string, params: Record<string, unknown>): Promise<void> => {
    answers.push(JSON.stringify(await line.ask(++id, method, params)));
  };
  const call = (name: string, args: Record<string, unknown>) => ask('tools/call', { name, arguments: args });
  const seen = await traced(async () => {
    for (const name of farm) {
      await call('transcript', { session: name });
      await call('read_transcript', { sessionId: name });
      await call('live_transcript', { sessionId: name });
      await call('update_session', { sessionId: name, title: 'x' });
      await call('name_speaker', { sessionId: name, speaker: 'x', track: 'room' });
      await call('delete_audio', { sessionId: name });
      await ask('resources/read', { uri: `ambient://sessions/${encodeURIComponent(name)}` });
      await ask('prompts/get', { name: 'recap', arguments: { session: name } });
    }
    await call('sessions', {});
    await call('list_sessions', { limit: 200 });
    await call('search_sessions', { query: 'SECRET' });
    await ask('resources/list', {});
  });
  line.destroy();
  for (const answer of answers) expect(answer.replace('"query":"SECRET"', '')).not.toContain('SECRET');
  // The record of clients is kept beside the sessions; its folder is found from the root down.
  const own = (file: string): boolean => file.startsWith(rig.paths.mcp) || rig.paths.mcp.startsWith(file);
  expectInside(seen.filter(({ file }) => !own(file)));
  expect(answers.filter((answer) => answer.includes('refusing symlink')).length).toBeGreaterThan(farm.length * 3);
});
