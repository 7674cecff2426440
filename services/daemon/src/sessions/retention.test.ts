import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../platform/logger.js';
import { trackPath } from './audio-files.js';
import { Retention } from './retention.js';
import { newSession, openStoreKit, type StoreKit } from './test-kit.js';
import type { Session } from './types.js';
import { wavHeader } from './wav.js';

let kit: StoreKit;
let session: Session;
beforeEach(async () => {
  kit = await openStoreKit();
  session = await kit.store.create(newSession());
  await mkdir(session.audioDir, { recursive: true });
  await writeFile(trackPath(session.audioDir, 'room'), Buffer.concat([wavHeader(3200), Buffer.alloc(6400)]));
  await session.update((draft) => {
    draft.state = 'done';
    draft.ended_at = '2026-11-30T16:09:00Z';
    draft.transcribed_at = '2026-11-30T16:09:00Z';
  });
});
afterEach(() => kit.remove());

const retention = (days: number | 'forever' | null): Retention =>
  new Retention({
    store: kit.store,
    days: () => days,
    clock: { now: () => new Date('2027-11-30T17:00:00Z'), monotonicMs: () => 0 },
    logger: silentLogger(),
  });
const hasAudio = (): boolean => existsSync(trackPath(session.audioDir, 'room'));

it.each([null, 'forever'] as const)('deletes nothing for %s', async (days) => {
  const { swept } = await retention(days).sweep();
  expect(swept).toEqual([]);
  expect(hasAudio()).toBe(true);
});

it('says that it deletes nothing while it does not know what is wanted', () => {
  expect(retention(null).warning()).toMatchObject({ code: 'audio_kept', message: expect.stringContaining('cannot be read') });
  expect(retention('forever').warning()).toBeNull();
});

it('deletes what is past its days', async () => {
  expect((await retention(7).sweep()).swept).toEqual([session.id]);
  expect(hasAudio()).toBe(false);
});
