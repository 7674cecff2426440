import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigStore } from '../config/config-store.js';
import { configCheck } from './config.js';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'dcc-'));
  file = path.join(dir, 'config.json');
});
afterEach(() => rm(dir, { recursive: true }));

describe('configCheck', () => {
  const look = async (env: Record<string, string>) => {
    const running = new ConfigStore({ file, env });
    await running.load();
    return configCheck(file, env, running);
  };

  it('says of a bad variable which one, what fits, and where to correct it', async () => {
    expect(await look({ AMBIENT_TRANSCRIPTION_THREADS: '99' })).toMatchObject({
      status: 'failure',
      detail: 'AMBIENT_TRANSCRIPTION_THREADS is 99; it may be at most 16; passed over.',
      fix: 'Unset or correct AMBIENT_TRANSCRIPTION_THREADS where the daemon is started from, then `ambientctl daemon restart`; `ambientctl config` shows what holds.',
    });
  });

  it('names the file only when something is wrong in it', async () => {
    await writeFile(file, '{"log.level": "loud"}');
    expect((await look({})).fix).toBe(`Correct ${file}; \`ambientctl config\` shows what holds.`);
    expect((await look({ AMBIENT_MCP_ENABLED: 'maybe' })).fix).toMatch(/Unset or correct AMBIENT_MCP_ENABLED .*; correct .*config\.json;/);
    expect((await look({ AMBIENT_LOG_LEVEL: 'info' })).status).toBe('ok');
  });
});
