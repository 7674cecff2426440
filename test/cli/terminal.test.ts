import { stripVTControlCharacters } from 'node:util';
import type { VerboseLine } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, runHere, startAmbientctl, temporaryHome } from './support/ambientctl.js';
import { FakeDaemon, IDLE } from './support/fake-daemon.js';
import { ID, LIVE, sessionFile, summary, verbose } from './support/samples.js';

const HOSTILE = 'a\u001b]0;owned\u0007\u001b[2Jb\u009b31m\u202ec\rd\ne';
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

let daemon: FakeDaemon;
let home: string;
let remove: () => void;
let lines: VerboseLine[] = [];
beforeAll(async () => {
  ({ home, remove } = temporaryHome());
  const hostile = summary({ name: HOSTILE, tags: [HOSTILE], speakers: [HOSTILE] });
  daemon = new FakeDaemon(home, {
    sessions: () => ({
      sessions: [hostile, summary({ id: '2026-11-30T1609', name: '会議の名前がとても長い場合でも揃えて表示する'.repeat(2) })],
      total: 2,
    }),
    session: () => ({
      summary: hostile,
      file: sessionFile({
        warnings: [{ code: 'x', message: HOSTILE, at: 'x' }],
        notes: `Ask about the lease.\n${HOSTILE.replace('\n', ' ')}`,
      }),
      lines: 1,
      bleed: 0,
    }),
    lines: () => ({ session: ID, lines }),
    search: () => ({
      sessions: [
        { ...hostile, matches: [{ segment: 1, start_ms: 0, track: 'room', speaker: HOSTILE, snippet: `«${HOSTILE}»`, field: 'text' }] },
      ],
      total: 1,
      has_more: false,
      unavailable: 0,
    }),
    export: () => ({ session: ID, format: 'text', content: `${HOSTILE}\n` }),
    devices: () => ({ devices: [{ id: HOSTILE, name: HOSTILE, kind: 'mic', default: true }], recorders: [] }),
  });
  daemon.status = {
    ...IDLE,
    live: {
      ...LIVE,
      name: HOSTILE,
      muted: ['call'],
      levels: { room: { rms_db: -30, peak_db: -3, speech: true, muted: false } },
    },
    warnings: [{ code: 'x', message: HOSTILE, at: 'x' }],
  };
  await daemon.start();
});
afterAll(async () => {
  await daemon.stop();
  remove();
});

describe('names and transcripts', () => {
  it.each([['sessions'], ['show last'], ['search a'], ['devices'], ['status'], ['export last'], ['delete last']])(
    'cannot control the terminal: %s',
    async (args) => {
      lines = [verbose(1, HOSTILE, { speaker: HOSTILE })];
      const { stdout, stderr } = await runHere(home, args.split(' '), { columns: 100, stdin: '\n' });
      const text = stripVTControlCharacters(stdout + stderr);
      expect(stdout + stderr).toContain('\\x1b');
      // What is stripped is only what we coloured ourselves: select graphic rendition with plain numbers.
      expect((stdout + stderr).replace(/\u001b\[\d+m/g, '')).toBe(text);
      expect(text).not.toMatch(CONTROLS);
    },
  );

  it.each([['sessions'], ['show last'], ['search a']])('are escaped in JSON too: %s', async (args) => {
    const { stdout } = await runHere(home, [...args.split(' '), '--json'], { columns: 100 });
    expect(stdout).not.toMatch(CONTROLS);
    expect(JSON.stringify(JSON.parse(stdout))).toContain('owned');
  });
});

describe('a terminal', () => {
  const width = (text: string): number =>
    Math.max(...text.split('\n').map((row) => [...stripVTControlCharacters(row)].reduce((sum, c) => sum + (c > '\u2e80' ? 2 : 1), 0)));

  it.each([24, 40, 60, 80, 120])('of %i columns is never overrun', async (columns) => {
    lines = [verbose(1, `${'word '.repeat(40)}${'x'.repeat(90)} 会議${'議'.repeat(70)}`, { speaker: 'Priya' })];
    for (const verb of ['sessions', 'show last', 'search a', 'status', 'doctor', 'devices']) {
      const { stdout } = await runHere(home, verb.split(' '), { columns });
      expect(width(stdout), `${verb}\n${stdout}`).toBeLessThanOrEqual(columns);
    }
  });

  it('gets colour, unless NO_COLOR is set or it is dumb; a pipe gets none', async () => {
    expect((await runHere(home, ['sessions'], { columns: 80 })).stdout).toContain('\u001b[');
    expect((await runHere(home, ['sessions'], { columns: 80, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b[');
    expect((await runHere(home, ['sessions'], { columns: 80, env: { TERM: 'dumb' } })).stdout).not.toContain('\u001b[');
    expect((await runHere(home, ['sessions'])).stdout).not.toContain('\u001b[');
  });

  it('is given the number of each line on request, and notes after the lines', async () => {
    lines = [
      verbose(1, '', { struck: true }),
      verbose(2, 'Two.'),
      verbose(3, 'Three.', { bleed: true }),
      ...Array.from({ length: 7 }, (_, i) => verbose(4 + i, `N${4 + i}.`)),
    ];
    const { stdout } = await runHere(home, ['show', 'last', '--numbers']);
    expect(stdout).toMatch(/^ 2 {2}00:02 {2}room {2}Two\.$/m);
    expect(stdout).toMatch(/^10 {2}00:10 {2}room {2}N10\.$/m);
    expect(stdout).not.toContain('Three');
    expect(stdout.trimEnd().split('\n').slice(-3)).toEqual(['Notes:', 'Ask about the lease.', expect.stringContaining('\\x1b')]);
    const json = JSON.parse((await runHere(home, ['show', 'last', '--numbers', '--json'])).stdout) as { segment: number }[];
    expect(json.map(({ segment }) => segment)).toEqual([2, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('does not wrap what goes to a pipe', async () => {
    lines = [verbose(1, 'word '.repeat(200).trim())];
    const { stdout } = await runHere(home, ['show', 'last']);
    expect(stdout.split('\n').find((row) => row.length > 900)).toBeDefined();
  });
});

describe('a pipe', () => {
  it('is flushed before the program ends, however much there is', async () => {
    lines = Array.from({ length: 20_000 }, (_, i) => verbose(i + 1, 'The quick brown fox jumps over the lazy dog.'));
    const child = startAmbientctl(home, ['show', 'last', '--json']);
    const { code, stdout } = await ended(child);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveLength(20_000);
  });

  it('that is closed early ends the program quietly', async () => {
    const child = startAmbientctl(home, ['show', 'last']);
    const end = ended(child);
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await end).toMatchObject({ code: 0, stderr: '' });
  });
});
