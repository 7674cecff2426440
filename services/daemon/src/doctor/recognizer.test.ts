import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Check } from '@ambient/contract';
import { checkFile, resolveModel } from '@ambient/recognizer/models';
import type { ModelFiles } from '@ambient/recognizer/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigStore } from '../config/config-store.js';
import { RecognizerTest } from './recognizer.js';

const IDLE = { state: 'unloaded', model: 'moonshine-tiny', pid: null, error: null } as const;

let dir: string;
let config: ConfigStore;
let good: ModelFiles;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'rec-'));
  config = new ConfigStore({ file: path.join(dir, 'none.json'), env: { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny' } });
  await config.load();
  good = await resolveModel('moonshine-tiny', dir);
});
afterAll(() => rm(dir, { recursive: true }));

async function examine(change: Partial<ConstructorParameters<typeof RecognizerTest>[0]>): Promise<[Check | undefined, Check | undefined]> {
  const transcriber = { recognizer: () => IDLE, lagSeconds: () => 0 };
  const test = new RecognizerTest({ config, transcriber, resolveModel: async () => good, recording: () => false, ...change });
  const [model, recognizer] = await test.examine();
  return [model, recognizer];
}

/** A copy of the model's encoder that `change` was done to, checked as the original is. */
async function damaged(change: (bytes: Buffer) => Buffer): Promise<ModelFiles> {
  const bytes = await readFile(good.encoder);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const copy = path.join(dir, 'encoder_model.onnx');
  await writeFile(copy, change(Buffer.from(bytes)));
  await checkFile(copy, bytes.length, sha256);
  return { ...good, encoder: copy };
}

describe('the check of the recognizer', () => {
  it('loads the model for real, once', async () => {
    let asked = 0;
    const transcriber = { recognizer: () => IDLE, lagSeconds: () => 0 };
    const resolve = async (): Promise<ModelFiles> => (asked++ === 0 ? good : { ...good, encoder: '/gone' });
    const test = new RecognizerTest({ config, transcriber, resolveModel: resolve, recording: () => false });
    expect((await test.examine()).map(({ status }) => status)).toEqual(['ok', 'ok']);
    // The second model would not load.
    expect((await test.examine())[1]?.detail).toBe('The model loads.');
  });

  it.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ['cut short', (bytes) => bytes.subarray(0, 1000), /encoder_model\.onnx has 1000 bytes instead of/],
    ['changed', (bytes) => bytes.fill(0, 5000, 5100), /encoder_model\.onnx is damaged/],
  ])('names a model file that was %s', async (_, change, words) => {
    const [model, recognizer] = await examine({ resolveModel: () => damaged(change) });
    expect(model).toMatchObject({ status: 'failure', detail: expect.stringMatching(words), fix: expect.stringContaining('npm run setup') });
    expect(recognizer?.status).toBe('failure');
  });

  it('names a model that is whole and does not load', async () => {
    const [, recognizer] = await examine({ resolveModel: async () => ({ ...good, encoder: path.join(dir, 'none.onnx') }) });
    expect(recognizer).toMatchObject({ status: 'failure', detail: expect.stringMatching(/does not load: /) });
  });

  it('names a recognizer that fails, with its own reason', async () => {
    const failed = { ...IDLE, state: 'failed', error: 'It was ended by SIGKILL.' } as const;
    const [, recognizer] = await examine({ transcriber: { recognizer: () => failed, lagSeconds: () => 0 } });
    expect(recognizer).toMatchObject({ status: 'failure', detail: 'It was ended by SIGKILL. Audio is kept, and no text is made of it.' });
  });

  it('names one that falls behind a recording; a long import is no fault', async () => {
    const busy = { recognizer: () => ({ ...IDLE, state: 'busy' }) as const, lagSeconds: () => 95.4 };
    const [, behind] = await examine({ transcriber: busy, recording: () => true });
    expect(behind).toMatchObject({ status: 'warning', detail: expect.stringContaining('95 s behind'), fix: expect.any(String) });
    const [, importing] = await examine({ transcriber: busy });
    expect(importing?.status).toBe('ok');
  });
});
