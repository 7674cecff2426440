import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../cli/support/ambientctl.js';
import { Daemon, residentMiB, until, writeTalk } from './kit.js';

const MINUTES = 10;

describe('a recognizer that is slower than speech', () => {
  let work: string;
  let talk: string;
  let daemon: Daemon;
  beforeAll(async () => {
    work = mkdtempSync(path.join(os.tmpdir(), 'amb-'));
    talk = path.join(work, 'talk.wav');
    await writeTalk(talk, 1, MINUTES * 60);
    daemon = new Daemon();
    await daemon.start();
  });
  afterAll(async () => {
    await daemon.remove();
    rmSync(work, { recursive: true });
  });

  const spoken = (session: string) => daemon.rawLines(session).map(({ samples, text }) => ({ samples, text }));
  const recognizer = (): Promise<number> =>
    until(async () => {
      const { pid, state } = (await daemon.status()).recognizer;
      return (state === 'ready' || state === 'busy') && pid !== null && pid;
    }, 'the recognizer');

  it('loses nothing: the lag is shown, memory stays bounded, and the text is whole in the end', async () => {
    const undisturbed = await daemon.record({ room_file: talk, pace: 'fast' });
    await daemon.finished(undisturbed);

    const pid = await recognizer();
    process.kill(pid, 'SIGSTOP');
    const before = residentMiB(daemon.pid);
    const id = await daemon.record({ room_file: talk, pace: 'fast' });
    // Capture waits for nobody: ten minutes are on disk while nothing is recognised.
    const stopped = await until(async () => (await daemon.status()).live === null, 'the end of the recording').then(() => daemon.status());
    expect(stopped).toMatchObject({ lag_s: MINUTES * 60, awaiting_transcript: 1, recognizer: { pid } });
    expect(daemon.sessionFile(id)).toMatchObject({ state: 'transcribing', duration_s: MINUTES * 60 });
    expect((await runHere(daemon.paths.home, ['status'])).stdout).toMatch(/10 min of audio to go/);
    expect(residentMiB(daemon.pid) - before).toBeLessThan(60);
    expect((await daemon.lines(id)).length).toBe(0);

    process.kill(pid, 'SIGCONT');
    expect((await daemon.finished(id)).warnings).toEqual([]);
    expect((await daemon.status()).lag_s).toBe(0);
    expect(spoken(id)).toEqual(spoken(undisturbed));
    expect(spoken(id).length).toBeGreaterThan(5);
  });

  it('shows the lag of a recording while it runs, and finishes after stop', async () => {
    const pid = await recognizer();
    const id = await daemon.record({ room_file: talk });
    await daemon.heard(id, 1);
    process.kill(pid, 'SIGSTOP');
    const lag = await until(async () => {
      const { lag_s, live } = await daemon.status();
      return live !== null && lag_s > 3 && lag_s;
    }, 'a lag of three seconds');
    expect(lag).toBeLessThan(12);
    const lines = (await daemon.lines(id)).length;
    const { state, duration_s } = await daemon.stopRecording();
    expect(state).toBe('transcribing');
    process.kill(pid, 'SIGCONT');
    await daemon.finished(id);
    const all = daemon.rawLines(id);
    expect(all.length).toBeGreaterThanOrEqual(lines);
    // The last turn was cut by the stop, and is read up to there.
    expect(all.at(-1)?.end_ms).toBeGreaterThan(duration_s * 1000 - 4000);
  });
});
