import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { HOME_SCHEMA, SESSION_SCHEMA } from '@ambient/contract';
import { describe, expect, it, type TestContext } from 'vitest';
import { ambientctl, runHere } from '../cli/support/ambientctl.js';
import { Daemon, ROOM } from './kit.js';

/** A session as the first builds wrote it, with a key of somebody else's in two places. */
const OLDER = {
  schema: 1,
  id: '2025-11-30T1608',
  name: 'Older',
  state: 'done',
  origin: 'live',
  started_at: '2025-11-30T16:08:00+01:00',
  ended_at: '2025-11-30T16:09:00+01:00',
  duration_s: 60,
  tracks: { room: { source: 'mic', recorder: 'sox', device: null, sample_rate: 16_000, offset_ms: 0, samples: 471_177, gain: 3 } },
  model: 'moonshine-base',
  colour: 'green',
};
const LINE = {
  track: 'room',
  start_ms: 600,
  end_ms: 4000,
  text: 'About zebras.',
  confidence: null,
  language: 'en',
  samples: [9600, 64_000],
  model: 'm',
};

export const otherVersions = (): unknown =>
  describe.concurrent('a home of another version', () => {
    const opened = async ({ onTestFinished }: TestContext): Promise<Daemon> => {
      const daemon = new Daemon({ AMBIENT_AUDIO_RETENTION_DAYS: 'forever' });
      onTestFinished(() => daemon.remove());
      await session(daemon, OLDER);
      return daemon;
    };

    async function session(daemon: Daemon, file: Record<string, unknown> & { id: string }): Promise<void> {
      await mkdir(daemon.file(file.id, 'audio'), { recursive: true });
      await cp(ROOM, daemon.file(file.id, 'audio', 'room.wav'));
      await writeFile(daemon.file(file.id, 'session.json'), JSON.stringify(file));
      await writeFile(daemon.file(file.id, 'raw.jsonl'), `${JSON.stringify(LINE)}\n`);
    }
    const home = (daemon: Daemon, name: string): string => path.join(daemon.paths.home, name);
    /** Every entry below a folder with its content and its time of change. */
    const snapshot = (dir: string): string[] =>
      readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .sort()
        .map((name) => {
          const file = path.join(dir, name);
          const content = lstatSync(file).isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
          return `${name} ${statSync(file).mtimeMs} ${content}`;
        });
    const found = async (daemon: Daemon, q: string): Promise<number> => (await daemon.client.call('search', { query: { q } })).total;

    it.for([
      ['without a version', undefined],
      ['of version 0', '{"schema":0}'],
      ['whose version cannot be read', 'schema?'],
    ])('%s is opened, and what this version does not know is kept', async ([, content], context) => {
      const daemon = await opened(context);
      if (content !== undefined) await writeFile(home(daemon, 'home.json'), content);
      await writeFile(home(daemon, 'config.json'), '{"theme":"dark","log.level":"debug"}');
      await daemon.start();
      expect(JSON.parse(readFileSync(home(daemon, 'home.json'), 'utf8'))).toEqual({ schema: HOME_SCHEMA });
      expect((await daemon.client.call('sessions', { query: {} })).sessions).toMatchObject([
        { id: OLDER.id, state: 'done', has_audio: true },
      ]);
      expect(await found(daemon, 'zebras')).toBe(1);
      await daemon.client.call('update', { params: { session: OLDER.id }, body: { name: 'Newer' } });
      await daemon.client.call('setConfig', { body: { key: 'disk.low_mb', value: 1 } });
      expect(daemon.sessionFile(OLDER.id)).toMatchObject({ name: 'Newer', colour: 'green', tracks: { room: { gain: 3 } } });
      expect(JSON.parse(readFileSync(home(daemon, 'config.json'), 'utf8'))).toEqual({
        theme: 'dark',
        'log.level': 'debug',
        'disk.low_mb': 1,
      });
    });

    it('that is newer is refused with the reason, and nothing in it is touched', async (context) => {
      const daemon = await opened(context);
      await writeFile(home(daemon, 'home.json'), JSON.stringify({ schema: HOME_SCHEMA + 1 }));
      const before = snapshot(daemon.paths.home);
      expect(await daemon.launch()).toMatchObject({ code: 1 });
      expect(daemon.output).toMatch(/^ambientd: [^\n]* was made by a later version [^\n]*\. Install the later version again[^\n]*\n$/);
      expect(snapshot(daemon.paths.home)).toEqual(before);
      const sessions = snapshot(daemon.paths.sessions);
      const { code, stderr } = await ambientctl(daemon.paths.home, ['daemon', 'start']);
      expect(code).toBe(1);
      expect(stderr).toContain('was made by a later version');
      expect(snapshot(daemon.paths.sessions)).toEqual(sessions);
    });

    it('may hold newer sessions: they are shown with the reason, never touched, and the others work', async (context) => {
      const daemon = await opened(context);
      const id = '2027-01-01T0800';
      await session(daemon, { ...OLDER, id, schema: SESSION_SCHEMA + 1, state: 'transcribing', tracks: 'elsewhere' });
      const before = snapshot(daemon.file(id));
      await daemon.start();
      const { sessions } = await daemon.client.call('sessions', { query: {} });
      expect(sessions.find((row) => row.id === id)).toMatchObject({
        state: 'broken',
        error: expect.stringContaining('newer version of Ambient'),
      });
      expect(await daemon.client.call('search', { query: { q: 'zebras' } })).toMatchObject({ total: 1, unavailable: 1 });
      for (const args of [
        ['show', id],
        ['rename', id, 'Mine'],
        ['strike', id, '--from', '0:00', '--to', '0:05'],
        ['delete', id, '--audio', '--yes'],
      ]) {
        const { code, stderr } = await runHere(daemon.paths.home, args);
        expect({ args, code }).toEqual({ args, code: 1 });
        expect(stderr).toMatch(/newer version of Ambient[^\n]*Update Ambient[^\n]*\n$/);
      }
      expect((await runHere(daemon.paths.home, ['show', 'last'])).stdout).toContain('zebras');
      await daemon.client.call('rebuild', { body: {} });
      await daemon.end();
      expect(snapshot(daemon.file(id))).toEqual(before);
    });

    it('may hold a newer library: it is made anew from the sessions', async (context) => {
      const daemon = await opened(context);
      await daemon.start();
      expect(await found(daemon, 'zebras')).toBe(1);
      await daemon.end();
      const database = readFileSync(daemon.paths.library);
      // The user version of an SQLite file stands at byte 60.
      database.writeUInt32BE(9999, 60);
      await writeFile(daemon.paths.library, database);
      await rm(`${daemon.paths.library}-wal`, { force: true });
      await daemon.start();
      expect(await found(daemon, 'zebras')).toBe(1);
      await daemon.end();
      expect(readFileSync(daemon.paths.library).readUInt32BE(60)).toBeLessThan(9999);
    });
  });
