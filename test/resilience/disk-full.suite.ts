import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { canMount } from '../support/mount.js';
import { BOTH, CALL, Daemon, ROOM, readWav, sameSamples, until } from './kit.js';

const MIB = 1024 * 1024;

export const fullDisk = (): unknown =>
  describe.skipIf(!canMount()).concurrent('a disk that fills', () => {
    let disk: string;
    let daemon: Daemon;
    beforeEach(async () => {
      disk = mkdtempSync(path.join(os.tmpdir(), 'amd-'));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
      daemon = new Daemon({}, disk);
      await writeFile(path.join(disk, 'config.json'), JSON.stringify({ 'disk.low_mb': 8, 'disk.stop_mb': 0 }));
      await daemon.start();
    });
    afterEach(async () => {
      await daemon.end('SIGKILL');
      execFileSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true });
    });

    const free = async (): Promise<number> => {
      const { bavail, bsize } = await statfs(disk);
      return bavail * bsize;
    };
    /** Leaves this many bytes free. */
    const fill = async (left: number, name = 'filler'): Promise<void> =>
      writeFile(path.join(disk, name), Buffer.alloc(Math.max(0, (await free()) - left), 1)).catch(() => undefined);
    const empty = async (): Promise<void> => {
      for (const name of await readdir(disk)) if (name.startsWith('filler')) await rm(path.join(disk, name));
    };
    const takeEverything = (): { stop: () => Promise<void> } => {
      let taken = 0;
      let going = true;
      const run = (async () => {
        while (going) await fill(0, `filler-${taken++ % 1000}-${Date.now()}`).then(() => sleep(2));
      })();
      return {
        async stop() {
          going = false;
          await run;
        },
      };
    };
    const codes = (session: string): string[] => daemon.sessionFile(session).warnings.map(({ code }) => code);

    it('is warned of early, ends the recording cleanly, and records again when there is space', async () => {
      const id = await daemon.record(BOTH);
      await fill(6 * MIB);
      await until(() => codes(id).includes('disk_low'), 'the early warning');
      expect((await daemon.status()).warnings).toMatchObject([{ code: 'disk_low', hint: expect.any(String) }]);
      expect((await daemon.status()).live).not.toBeNull();

      await daemon.heard(id, 1);
      await fill(400_000, 'filler-2');
      await until(async () => (await daemon.status()).live === null, 'the recording to end by itself');
      // Whatever the recording gave up, another program takes.
      await fill(0, 'filler-3');
      expect((await daemon.status()).warnings).toMatchObject([{ code: 'disk_full', hint: expect.any(String) }]);
      expect(daemon.events).toContainEqual(
        expect.objectContaining({ type: 'warning', session: id, warning: expect.objectContaining({ code: 'disk_full' }) }),
      );
      for (const [track, source] of [
        ['room', ROOM],
        ['call', CALL],
      ] as const) {
        const { samples, declared } = await daemon.track(id, track);
        expect(declared).toBe(samples.length);
        expect(samples.length).toBeGreaterThan(5 * 16_000);
        expect(sameSamples(samples, (await readWav(source)).samples.subarray(0, samples.length))).toBe(true);
      }
      await expect(daemon.record(BOTH)).rejects.toMatchObject({ code: 'disk_full' });
      // Each of them fails to bring the index up to date, and to log that.
      for (let i = 0; i < 12; i++) expect(await daemon.client.call('search', { query: { q: 'migration' } })).toMatchObject({ total: 1 });

      await empty();
      const file = await daemon.finished(id);
      expect(file.state).toBe('done');
      expect(codes(id)).toEqual(['disk_low', 'disk_full']);
      expect(file.coverage.map(({ track, reason }) => [track, reason])).toEqual(
        expect.arrayContaining([
          ['room', 'disk_full'],
          ['call', 'disk_full'],
        ]),
      );
      expect(file.duration_s).toBeCloseTo((await daemon.track(id, 'room')).samples.length / 16_000, 0);
      await until(async () => (await daemon.status()).warnings.length === 0, 'the warning to go');

      const again = await daemon.record(BOTH);
      await until(async () => ((await daemon.status()).live?.elapsed_ms ?? 0) > 5000, 'five seconds');
      // From here on another program takes every byte that the daemon gives up, its reserve too.
      const taking = takeEverything();
      await until(async () => (await daemon.status()).live === null, 'the recording to end by itself');
      const { samples, declared } = await daemon.track(again, 'room');
      expect(declared).toBe(samples.length);
      await taking.stop();
      await empty();
      const second = await daemon.finished(again);
      expect(second.warnings).toContainEqual(expect.objectContaining({ code: 'disk_full', from_ms: expect.any(Number) }));
      expect(second.coverage).toContainEqual(expect.objectContaining({ track: 'room', reason: 'disk_full' }));
      expect((await daemon.lines(again)).length).toBeGreaterThan(0);

      const rebuilt = await daemon.client.call('rebuild', { body: {} });
      expect(rebuilt).toMatchObject({ sessions: 2, skipped: [] });
      expect(await daemon.client.call('search', { query: { q: 'migration' } })).toMatchObject({ total: 2 });
      const { stdout } = await runHere(disk, ['show', id]);
      expect(stdout).toContain('The disk is full: the recording was stopped.');
    });
  });
