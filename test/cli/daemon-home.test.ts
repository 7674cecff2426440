import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, runHere } from './support/ambientctl.js';

const ROOM = fileURLToPath(new URL('../fixtures/conversation/room.wav', import.meta.url));

let base: string;
let home: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'amh-'));
  home = path.join(base, 'h');
});
afterEach(async () => {
  await runHere(home, ['daemon', 'stop']);
  rmSync(base, { recursive: true, force: true });
});

const cli = (...args: string[]): Promise<Ended> => runHere(home, args, { env: { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny' } });
const ok = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await cli(...args);
  if (code !== 0) throw new Error(`ambientctl ${args.join(' ')}: ${stderr}`);
  return stdout;
};

describe('a real daemon and its home', () => {
  it('works in a home with any characters in its path', async () => {
    home = path.join(base, 'a:"b" *?<c>|\\d\'e %n ü 会 $(f)');
    mkdirSync(home);
    await ok('import', ROOM, '--wait');
    expect(await ok('show', 'last')).toMatch(/weekend/i);
    expect(await ok('search', 'weekend')).toContain('«');
    expect((await ok('daemon', 'logs')).length).toBeGreaterThan(0);
  });
});
