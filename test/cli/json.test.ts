import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ambientctl, runHere, temporaryHome } from './support/ambientctl.js';
import { FakeDaemon, type FakeHandlers, IDLE } from './support/fake-daemon.js';
import { ID, LIVE, sessionFile, summary, verbose } from './support/samples.js';

const detail = { summary: summary(), file: sessionFile(), lines: 3, bleed: 1 };
const lines = [
  verbose(1, 'Good morning.'),
  verbose(2, 'Good morning.', { track: 'call', speaker: 'Priya' }),
  verbose(3, 'Good morning', { bleed: true }),
  verbose(4, '', { struck: true }),
];
const approval = {
  id: 'a1',
  client: 'Desk',
  tool: 'delete_session',
  summary: 'Delete a session',
  session: ID,
  created_at: '2026-11-30T16:08:00Z',
  expires_at: '2026-11-30T16:09:00Z',
  state: 'pending' as const,
};
const handlers: FakeHandlers = {
  start: ({ body }) => ({
    id: ID,
    name: body.name ?? null,
    dir: '/d',
    started_at: '2026-11-30T16:08:00Z',
    tracks: ['room'],
    already_running: false,
    warnings: [],
  }),
  stop: () => ({ id: ID, duration_s: 61, state: 'transcribing' }),
  pause: () => ({ ...IDLE, live: { ...LIVE, paused: true } }),
  resume: () => ({ ...IDLE, live: LIVE }),
  mute: ({ body }) => ({ ...IDLE, live: { ...LIVE, muted: body.muted === false ? [] : [body.track] } }),
  strike: ({ body }) => ({ session: ID, from_ms: body.from_ms, to_ms: body.to_ms, lines: 2 }),
  sessions: () => ({ sessions: [summary()], total: 1 }),
  session: () => detail,
  lines: () => ({ session: ID, lines }),
  coverage: () => ({ session: ID, duration_s: 61, gaps: [{ track: 'room', from_ms: 0, to_ms: 500, reason: 'device_lost' }] }),
  search: () => ({ sessions: [{ ...summary(), matches: [] }], total: 1, has_more: false, unavailable: 0 }),
  import: ({ body }) => ({ imports: body.files.map((file, i) => ({ id: `${ID}-${i}`, file, state: 'done', progress: 1, error: null })) }),
  imports: () => ({ imports: [] }),
  export: () => ({ session: ID, format: 'json', content: '[]' }),
  update: ({ body }) => ({ ...detail, summary: summary({ name: body.name ?? null, tags: body.tags ?? [] }) }),
  nameSpeaker: () => ({ edit: 'e1', lines: 1 }),
  remove: () => ({ id: ID }),
  removeAudio: () => ({ id: ID, bytes: 4096 }),
  devices: () => ({ devices: [{ id: 'mic0', name: 'Mic', kind: 'mic', default: true }], recorders: [{ name: 'sox', path: null }] }),
  config: () => ({ settings: [{ key: 'audio.device', value: null, source: 'default', description: 'd' }], unknown: [], warnings: ['w'] }),
  setConfig: ({ body }) => ({ key: body.key, value: body.value }),
  rebuild: () => ({ sessions: 1, lines: 3, skipped: [] }),
  doctor: () => ({ checks: [], healthy: true }),
  approvals: () => ({ approvals: [approval] }),
  decide: () => ({ ...approval, state: 'approved' }),
};

let daemon: FakeDaemon;
let home: string;
let remove: () => void;
let work: string;
beforeAll(async () => {
  ({ home, remove } = temporaryHome());
  work = mkdtempSync(path.join(tmpdir(), 'amw-'));
  writeFileSync(path.join(work, 'a.wav'), 'RIFF');
  writeFileSync(path.join(work, 'empty.wav'), '');
  daemon = new FakeDaemon(home, handlers);
  await daemon.start();
});
afterAll(async () => {
  await daemon.stop();
  remove();
  rmSync(work, { recursive: true });
});

async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runHere(home, [...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('--json prints exactly one value and nothing on stderr', () => {
  it.each([
    [''],
    ['status'],
    ['start'],
    ['stop'],
    ['pause'],
    ['resume'],
    ['mute room'],
    ['strike --last 5m'],
    ['sessions'],
    ['show last'],
    ['show last --verbatim'],
    ['show last --coverage'],
    ['search morning'],
    ['export last'],
    ['export last --format json --out -'],
    ['rename last New name'],
    ['tag last work'],
    ['speaker last Priya --track call'],
    ['delete last --yes'],
    ['delete last --audio -y'],
    ['devices'],
    ['config'],
    ['config audio.device'],
    ['config audio.device mic0'],
    ['config audio.device --unset'],
    ['library rebuild'],
    ['doctor'],
    ['approvals'],
    ['approvals list'],
    ['approvals approve a1'],
    ['daemon status'],
    ['daemon start'],
  ])('ambientctl %s', async (args) => {
    await json(...args.split(' ').filter((arg) => arg !== ''));
  });

  it('also when it stands before the verb', async () => {
    const { stdout } = await runHere(home, ['--json', 'sessions']);
    expect(JSON.parse(stdout)).toHaveLength(1);
  });

  it('has the keys of the sessions contract plus state, sorted', async () => {
    const [row] = (await json('sessions')) as [object];
    expect(Object.keys(row)).toEqual([
      'dir',
      'duration_s',
      'error',
      'id',
      'live',
      'name',
      'started_at',
      'state',
      'transcribed',
      'transcribing',
    ]);
  });

  it('shows folded lines with five fields, without bleed and struck ones', async () => {
    expect(await json('show', 'last')).toEqual([
      { track: 'room', start_ms: 1000, end_ms: 1000, speaker: null, text: 'Good morning.' },
      { track: 'call', start_ms: 2000, end_ms: 1000, speaker: 'Priya', text: 'Good morning.' },
    ]);
    const verbatim = (await json('show', 'last', '--verbatim')) as object[];
    expect(verbatim).toHaveLength(3);
    expect(verbatim[2]).toMatchObject({ bleed: true });
  });

  it('gives start and stop an id, import --wait an array of ids and files', async () => {
    expect(await json('start', '--name', 'Ünïcode 会議')).toMatchObject({ id: ID, name: 'Ünïcode 会議' });
    expect(await json('stop')).toMatchObject({ id: ID });
    const file = path.join(work, 'a.wav');
    expect(await json('import', '--wait', file)).toMatchObject([{ id: `${ID}-0`, file, state: 'done', error: null, warnings: [] }]);
  });

  it('and import --wait what the session warns of, which people read on stderr', async () => {
    const warning = { code: 'cut_off', message: 'The file is cut off.', hint: 'Look for a whole one.', at: '2026-11-30T16:08:00Z' };
    daemon.handlers = { ...handlers, session: () => ({ ...detail, file: sessionFile({ warnings: [warning] }) }) };
    const args = ['import', '--wait', path.join(work, 'a.wav')];
    const text = await runHere(home, args);
    const value = await json(...args);
    daemon.handlers = handlers;
    expect(value).toMatchObject([{ warnings: [warning] }]);
    expect(text.stderr).toContain('a.wav: Warning: The file is cut off. Look for a whole one.');
    expect(text.code).toBe(0);
  });
});

describe('what is sent', () => {
  const last = (): unknown => daemon.calls.at(-1)?.input;

  it('makes relative paths absolute and takes files that begin with a dash after --', async () => {
    await json('start', '--room-file', 'x/../a.wav', '--pace', 'fast', '--seconds', '1m30s');
    expect(last()).toMatchObject({ body: { room_file: path.resolve('a.wav'), pace: 'fast', seconds: 90 } });
    writeFileSync(path.join(work, '-odd.wav'), 'RIFF');
    const { code } = await runHere(home, ['import', '--name', 'N', '--', path.join(work, '-odd.wav')]);
    expect(code).toBe(0);
    expect(last()).toMatchObject({ body: { files: [path.join(work, '-odd.wav')], name: 'N' } });
  });

  it('strikes the end of the live session by default, of a finished one by its length', async () => {
    daemon.status = { ...IDLE, live: LIVE };
    await json('strike', '--last', '5m', '--track', 'room');
    expect(last()).toEqual({ params: { session: ID }, body: { from_ms: 300_000, to_ms: 600_000, track: 'room' } });
    daemon.status = IDLE;
    await json('strike', '--last', '5m');
    expect(last()).toEqual({ params: { session: ID }, body: { from_ms: 0, to_ms: 61_000 } });
    await json('strike', '2026', '--from', '0:10', '--to', '1:00');
    expect(last()).toEqual({ params: { session: ID }, body: { from_ms: 10_000, to_ms: 60_000 } });
  });

  it('joins the words of a query and passes its filters on', async () => {
    await json('search', 'schema', 'change', '--track', 'call', '--since', '2026-11-30', '--limit', '5');
    expect(last()).toMatchObject({ query: { q: 'schema change', track: 'call', since: new Date(2026, 10, 30).toISOString(), limit: 5 } });
    await ambientctl(home, ['search', 'x', '--since', '2026-11-30', '--until', '2026-11-30'], { env: { TZ: 'Asia/Tokyo' } });
    expect(last()).toMatchObject({ query: { since: '2026-11-29T15:00:00.000Z', until: '2026-11-30T14:59:59.999Z' } });
    // After `--`, all is query.
    await runHere(home, ['search', '--', '-5', '--json']);
    expect(last()).toMatchObject({ query: { q: '-5 --json' } });
  });

  it('adds and removes tags without touching the others', async () => {
    daemon.handlers = { ...handlers, session: () => ({ ...detail, summary: summary({ tags: ['old', 'work'] }) }) };
    await json('tag', 'last', 'work', 'new');
    expect(last()).toMatchObject({ body: { tags: ['old', 'work', 'new'] } });
    await json('tag', 'last', 'old', '--remove');
    expect(last()).toMatchObject({ body: { tags: ['work'] } });
    await json('tag', 'last', '#hash');
    expect(last()).toMatchObject({ body: { tags: ['old', 'work', 'hash'] } });
    await json('search', 'x', '--tag', '#hash');
    expect(last()).toMatchObject({ query: { tag: 'hash' } });
    daemon.handlers = handlers;
  });
});

describe('failures', () => {
  it('are one JSON object on stderr, exit 1, with nothing on stdout', async () => {
    daemon.handlers = {
      ...handlers,
      lines: () => {
        throw new AmbientError('bad_request', 'A session is one plain name.', 'See `ambientctl sessions`.');
      },
    };
    const { code, stdout, stderr } = await runHere(home, ['show', '../x', '--json']);
    daemon.handlers = handlers;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      code: 'bad_request',
      message: 'A session is one plain name.',
      hint: 'See `ambientctl sessions`.',
    });
    expect(daemon.calls.at(-1)).toMatchObject({ name: 'lines', input: { params: { session: '../x' } } });
  });

  it('of import name every bad file, and nothing is started', async () => {
    const before = daemon.calls.length;
    const args = ['import', path.join(work, 'a.wav'), path.join(work, 'none.wav'), path.join(work, 'empty.wav'), work];
    const { code, stderr } = await runHere(home, args);
    expect(code).toBe(1);
    for (const part of ['There is no file', 'empty.wav is empty', 'is a folder', 'Nothing was imported']) expect(stderr).toContain(part);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(daemon.calls).toHaveLength(before);
  });

  it('of single imports make the exit code 1 and stay in the array', async () => {
    daemon.handlers = {
      ...handlers,
      import: ({ body }) => ({ imports: body.files.map((file) => ({ id: 'x', file, state: 'failed', progress: 0, error: 'No audio.' })) }),
    };
    const { code, stdout } = await runHere(home, ['import', '--wait', '--json', path.join(work, 'a.wav')]);
    daemon.handlers = handlers;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([{ state: 'failed', error: 'No audio.' }]);
  });

  it('of doctor make the exit code 1', async () => {
    daemon.handlers = {
      ...handlers,
      doctor: () => ({ checks: [{ id: 'disk', title: 'Disk', status: 'failure', detail: 'full', fix: 'Free some.' }], healthy: false }),
    };
    const { code, stdout } = await runHere(home, ['doctor']);
    daemon.handlers = handlers;
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL {2}Disk/);
    expect(stdout).toContain('-> Free some.');
  });
});

describe('search', () => {
  it('says how many matches of a session it does not list', async () => {
    const match = { segment: 1, start_ms: 0, track: 'room' as const, speaker: null, snippet: 'a «word»', field: 'text' as const };
    const reply = { total: 1, has_more: false, unavailable: 0 };
    daemon.handlers = { ...handlers, search: () => ({ ...reply, sessions: [{ ...summary(), matches: [match], match_count: 4 }] }) };
    const { stdout } = await runHere(home, ['search', 'word']);
    expect(stdout).toContain(`3 more in this session: ambientctl show ${ID}`);
    daemon.handlers = { ...handlers, search: () => ({ ...reply, sessions: [{ ...summary(), matches: [match], match_count: 1 }] }) };
    expect((await runHere(home, ['search', 'word'])).stdout).not.toContain('more in this session');
    daemon.handlers = handlers;
  });
});

describe('export --out', () => {
  it('asks for JSON with --json, unless --format says otherwise', async () => {
    const last = (): unknown => daemon.calls.at(-1)?.input;
    await json('export', 'last', '--out', '-');
    expect(last()).toMatchObject({ query: { format: 'json' } });
    await json('export', 'last', '--format', 'text');
    expect(last()).toMatchObject({ query: { format: 'text' } });
    await runHere(home, ['export', 'last']);
    expect(last()).toMatchObject({ query: { format: 'markdown' } });
  });

  it('never replaces a file without --force, and leaves nothing half written', async () => {
    const file = path.join(work, 'notes.md');
    const names = readdirSync(work).length;
    expect((await runHere(home, ['export', 'last', '--out', file])).code).toBe(0);
    writeFileSync(file, 'mine');
    const refused = await runHere(home, ['export', 'last', '--out', file]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--force');
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await runHere(home, ['export', 'last', '--out', file, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('[]\n');
    expect(readdirSync(work)).toHaveLength(names + 1);
  });

  it('says in one line why a place cannot be written to, and what to do', async () => {
    const cases: [string, number, RegExp][] = [
      [path.join(work, 'no/such/x.md'), 1, /There is no folder .*no\/such\. Make it first/],
      [path.join(work, 'a.wav/x.md'), 1, /There is no folder .*a\.wav\. Make it first/],
      [work, 1, /is a folder\. Give --out the name of a file in it\./],
      [`${work}/new/`, 2, /names a folder\. Give --out the name of a file in it\./],
      [path.join(work, 'x'.repeat(300)), 1, /The name of x+… is too long\. Give a shorter --out\./],
      ...(process.platform === 'linux'
        ? [['/proc/x.md', 1, /No file can be made in \/proc\. Give --out/] as [string, number, RegExp]]
        : []),
    ];
    const names = readdirSync(work);
    for (const [file, code, words] of cases)
      for (const force of [[], ['--force']]) {
        const result = await runHere(home, ['export', 'last', '--out', file, ...force]);
        expect(result.stderr).toMatch(words);
        expect(result.stderr.trim().split('\n')).toHaveLength(1);
        expect([result.code, result.stdout]).toEqual([code, '']);
      }
    expect(readdirSync(work)).toEqual(names);
    // A name of its own full length leaves no room for a longer one beside it.
    expect((await runHere(home, ['export', 'last', '--out', path.join(work, 'y'.repeat(255))])).code).toBe(0);
  });
});

describe('delete', () => {
  const removals = (): number => daemon.calls.filter(({ name }) => name === 'remove').length;

  it('refuses without --yes where nobody can answer', async () => {
    const before = removals();
    const { code, stderr } = await runHere(home, ['delete', 'last']);
    expect(code).toBe(2);
    expect(stderr).toContain('--yes');
    expect(removals()).toBe(before);
  });

  it('asks on a terminal, and takes anything but yes as no', async () => {
    const before = removals();
    const no = await runHere(home, ['delete', 'last'], { columns: 80, stdin: '\n' });
    expect(no.stderr).toContain(`Delete ${ID} "Weekly" with all its files? [y/N]`);
    expect([no.code, removals()]).toEqual([1, before]);
    const yes = await runHere(home, ['delete', 'last'], { columns: 80, stdin: 'y\n' });
    expect([yes.code, removals()]).toEqual([0, before + 1]);
  });
});
