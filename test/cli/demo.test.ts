import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterEach, describe, expect, it } from 'vitest';

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

const HOME = path.join(ROOT, '.demo');
const client = new AmbientClient(homePaths(HOME, process.getuid?.() ?? 0).controlSocket);

describe('the demo that is ended early', () => {
  afterEach(async () => {
    if (await client.isAlive()) await client.call('shutdown', { body: {} });
  });

  it.each<[string, number, (demo: ChildProcessWithoutNullStreams) => void]>([
    ['because nobody reads on, as with `head`', 0, (demo) => demo.stdout.destroy()],
    ['by the end of its terminal', 129, (demo) => demo.kill('SIGHUP')],
  ])('%s, leaves no daemon', async (_, code, end) => {
    const demo = spawn(process.execPath, ['tools/demo/run.mjs'], { cwd: ROOT });
    demo.stdin.end();
    demo.stdout.resume();
    let said = '';
    while (!said.includes('Recording ')) said += String((await once(demo.stderr, 'data'))[0]);
    demo.stderr.resume();
    expect(await client.isAlive()).toBe(true);
    const closed = once(demo, 'exit');
    end(demo);
    expect((await closed)[0]).toBe(code);
    expect(await client.isAlive()).toBe(false);
  });
});
