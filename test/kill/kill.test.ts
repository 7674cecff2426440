import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { requireTools } from '../support/require-tool.js';

const program = path.resolve(import.meta.dirname, '../../tools/kill/run.mjs');
/** One round of each kind of fault; `tools/kill` plays hundreds, and `quality/kill.json` has the result. */
const FILES = ['record/daemon', 'record/recognizer', 'stop/daemon', 'import/daemon'];
const DEVICES = requireTools(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox']) ? ['device/daemon', 'device/recorder'] : [];
const PATIENCE_MS = 240_000;

interface Result {
  readonly rounds: number;
  readonly kills: { readonly total: number };
  readonly violations: number;
  readonly worst_audio_loss_ms: number;
  readonly limit_audio_loss_ms: number;
}

test('a kill at any moment loses no line and at most 1.2 s of audio, doubles nothing and moves nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const kinds = [...FILES, ...DEVICES];
  const { result, complaints } = await play(['--rounds', String(kinds.length), '--kinds', kinds.join(','), '--seed', '3', '--json']);
  expect(complaints).toBe('');
  expect(result.rounds).toBe(kinds.length);
  expect(result.kills.total).toBeGreaterThanOrEqual(kinds.length - 1);
  expect(result.violations).toBe(0);
  expect(result.worst_audio_loss_ms).toBeLessThanOrEqual(result.limit_audio_loss_ms);
});

function play(args: readonly string[]): Promise<{ result: Result; complaints: string }> {
  return new Promise((resolve, reject) => {
    // On violations it exits with 1 and prints the same result.
    execFile(process.execPath, [program, ...args], { timeout: PATIENCE_MS - 10_000 }, (error, stdout, stderr) => {
      if (stdout.trim() === '') reject(error ?? new Error(stderr));
      else resolve({ result: JSON.parse(stdout) as Result, complaints: stderr });
    });
  });
}
