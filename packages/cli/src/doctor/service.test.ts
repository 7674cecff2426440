import { describe, expect, it } from 'vitest';
import type { ServiceState } from '../service/types.js';
import { describeService } from './service.js';

const RUNNING: ServiceState = {
  kind: 'systemd',
  installed: true,
  status: 'running',
  pid: 7,
  detail: 'The service runs.',
  file: '/u/ambientd.service',
  home: '/h',
  outdated: [],
};
const GONE = ['The unit starts /old/node, which is no longer there.'];

describe('the check of the service', () => {
  it.each<[string, Partial<ServiceState>, boolean, string, RegExp]>([
    ['runs', {}, true, 'ok', /The service runs/],
    ['is not installed', { installed: false, status: 'not_installed', home: null }, false, 'ok', /starts when it is first used/],
    ['serves another home', { installed: false, home: '/other' }, false, 'ok', /serves \/other/],
    [
      'failed',
      { status: 'failed', detail: 'The daemon failed.', hint: 'See the logs.' },
      false,
      'failure',
      /The daemon failed\. -> See the logs\./,
    ],
    ['is outdated and runs', { outdated: GONE }, true, 'warning', /no longer there\. -> Run `ambientctl daemon install`/],
    [
      'is outdated and down',
      { status: 'stopped', outdated: GONE },
      false,
      'failure',
      /no longer there\. -> Run `ambientctl daemon install`/,
    ],
    ['is stopped', { status: 'stopped', detail: 'It is stopped.' }, false, 'warning', /It is stopped\. -> Run `ambientctl daemon start`/],
    ['is stopped beside a daemon that runs', { status: 'stopped' }, true, 'warning', /did not start.*daemon restart/],
  ])('one that %s', (_, change, answers, status, words) => {
    const result = describeService({ ...RUNNING, ...change }, answers);
    expect(result.status).toBe(status);
    expect(`${result.detail} -> ${result.fix ?? ''}`).toMatch(words);
  });
});
