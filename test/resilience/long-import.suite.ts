import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireTools } from '../support/require-tool.js';
import { Daemon, ROOM, readWav, residentMiB, writeWav } from './kit.js';

const HOURS = 2;
const EVERY_SECONDS = 600;
/** A busy machine takes a minute, ms. */
const PATIENCE_MS = 150_000;
const SENTENCES = (HOURS * 3600) / EVERY_SECONDS;

export const longImport = (): unknown =>
  describe.skipIf(!requireTools(['ffmpeg'])).concurrent('an import of two hours', () => {
    let work: string;
    let daemon: Daemon;
    beforeAll(async () => {
      work = mkdtempSync(path.join(os.tmpdir(), 'aml-'));
      daemon = new Daemon();
      await daemon.start();
      const stretch = new Int16Array(EVERY_SECONDS * 16_000);
      // One sentence, then silence.
      stretch.set((await readWav(ROOM)).samples.subarray(0, 5 * 16_000));
      await writeWav(path.join(work, 'stretch.wav'), stretch);
      const loop = ['-v', 'error', '-stream_loop', String(SENTENCES - 1), '-i', path.join(work, 'stretch.wav'), '-c:a', 'flac'];
      execFileSync('ffmpeg', [...loop, path.join(work, 'long.flac')]);
    });
    afterAll(async () => {
      await daemon.remove();
      rmSync(work, { recursive: true });
    });

    it(
      'takes bounded memory in daemon and recognizer, and finds every sentence at its time',
      async () => {
        const memory = { daemon: { first: 0, most: 0 }, recognizer: { first: 0, most: 0 } };
        let over = false;
        const watch = (async () => {
          while (!over) {
            const status = await daemon.status().catch(() => undefined);
            memory.daemon.most = Math.max(memory.daemon.most, residentMiB(daemon.pid));
            memory.recognizer.most = Math.max(memory.recognizer.most, residentMiB(status?.recognizer.pid));
            await sleep(200);
          }
        })();
        const { imports } = await daemon.client.call('import', { body: { files: [path.join(work, 'long.flac')] } });
        const id = imports[0]?.id ?? '';
        await daemon.heard(id, 1);
        // From the first line on everything is loaded: what grows then grows with the length.
        memory.daemon.first = residentMiB(daemon.pid);
        memory.recognizer.first = residentMiB((await daemon.status()).recognizer.pid);
        const file = await daemon.finished(id, PATIENCE_MS);
        over = true;
        await watch;
        expect(file).toMatchObject({ state: 'done', warnings: [], duration_s: HOURS * 3600 });
        const lines = daemon.rawLines(id);
        expect(lines).toHaveLength(SENTENCES);
        for (const [n, line] of lines.entries()) {
          expect(Math.abs(line.start_ms - (n * EVERY_SECONDS * 1000 + 600))).toBeLessThan(300);
          expect(line.text).toMatch(/migration/i);
        }
        expect(memory.daemon.most).toBeLessThan(250);
        expect(memory.daemon.most - memory.daemon.first).toBeLessThan(80);
        expect(memory.recognizer.most).toBeLessThan(500);
        expect(memory.recognizer.most - memory.recognizer.first).toBeLessThan(100);
      },
      PATIENCE_MS,
    );
  });
