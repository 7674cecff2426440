import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder.js';

describe('makeFolder', () => {
  it('makes every missing folder, private, and is content with one that is there', async () => {
    const base = await mkdtemp(path.join(os.tmpdir(), 'mk-'));
    const dir = path.join(base, 'a/b/c');
    await makeFolder(dir);
    await makeFolder(dir);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    await rm(base, { recursive: true });
  });

  it.skipIf(process.platform !== 'linux')('ends with an error where no folder can be made', async () => {
    await expect(makeFolder('/proc/ambient-test/run')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
