import { AmbientError } from '@ambient/contract';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../platform/clock.js';
import { CallLog } from './call-log.js';
import type { ClientView } from './client-view.js';
import { findTool } from './tools/index.js';

test('says which client did what to which session, and what was denied, cancelled or too much, in no words of theirs', () => {
  const written: Record<string, unknown>[] = [];
  const log = new CallLog(pino({ base: null }, { write: (line: string) => written.push(JSON.parse(line)) }), systemClock);
  const client: ClientView = {
    id: 'c1',
    name: 'Said aloud',
    access: 'enabled',
    toolsets: ['library'],
    scope: { tags: [], since: null, sessions: [] },
  };
  const [remove, read] = ['delete_session', 'read_transcript'].map((name) => findTool(name, ['library']));
  if (remove === undefined || read === undefined) throw new Error('no such tool');
  const args = { sessionId: '2026-11-30T1608', title: 'Said aloud' };
  log.done(client, remove, args);
  log.failed(client, remove, args, new AmbientError('forbidden', 'no'), false);
  log.failed(client, remove, args, new AmbientError('forbidden', 'no'), true);
  log.failed(client, remove, { sessionId: '../Said aloud' }, new Error('no'), false);
  log.done(client, read, args);
  log.limited(client, read);
  log.limited(client, read);
  const who = { client: 'c1', tool: 'delete_session', session: '2026-11-30T1608' };
  expect(written).toMatchObject([
    { ...who, outcome: 'succeeded' },
    { ...who, outcome: 'denied' },
    { ...who, outcome: 'cancelled' },
    { client: 'c1', tool: 'delete_session', outcome: 'failed' },
    { client: 'c1', tool: 'read_transcript', outcome: 'rate_limited' },
  ]);
  expect(JSON.stringify(written)).not.toContain('Said aloud');
});
