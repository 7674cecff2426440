import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ICON_NAMES } from '../../packages/tray/src/icon.js';

const at = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

describe('the icons', () => {
  it('are what tools/icons/draw.mjs draws', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [at('tools/icons/draw.mjs'), '--check']);
    expect(stdout).toBe('');
  });

  it.each(['light', 'dark', 'template'])('are there for every state (%s)', async (folder) => {
    expect((await readdir(at(`packages/tray/icons/${folder}`))).sort()).toEqual(ICON_NAMES.map((name) => `${name}.png`).sort());
  });
});
