import type { Check, DoctorFacts } from '@ambient/contract';
import { check } from '@ambient/contract';
import { describe, expect, it } from 'vitest';
import { type BundleFacts, withCauses } from './silence.js';

const EXECUTABLE = '/Users/u/Applications/Ambient.app/Contents/MacOS/ambientd';
const BUNDLE: BundleFacts = { bundleExecutable: EXECUTABLE, staleness: null };
const CHECKS: readonly Check[] = [
  check.failure('recorder.room', 'Microphone', 'sox records default: it gives only zeros.', 'x'),
  check.warning('recorder.call', 'System audio', 'audiotee records everything: it gives only zeros.', 'x'),
];

function explained(facts: Partial<DoctorFacts>, bundle: Partial<BundleFacts> = {}): Check[] {
  const all: DoctorFacts = {
    executable: EXECUTABLE,
    launched_as: null,
    timezone: 'UTC',
    utc_offset_min: 0,
    silent: ['room', 'call'],
    ...facts,
  };
  return withCauses(CHECKS, all, { ...BUNDLE, ...bundle });
}

describe('a track of zeros on a Mac', () => {
  it('is laid to the missing grant when everything else is in its place, with the panel and the command', () => {
    const [room, call] = explained({});
    expect(room).toMatchObject({ status: 'failure', detail: expect.stringMatching(/without permission for the microphone.*profile/) });
    expect(room?.fix).toMatch(/Privacy & Security → Microphone.*tccutil reset Microphone io\.ambient\.daemon/);
    expect(call?.fix).toMatch(/Screen & System Audio Recording.*tccutil reset AudioCapture io\.ambient\.daemon/);
    // Whether anything plays is not known: it may be as it should be.
    expect(call?.status).toBe('warning');
  });

  it('is laid to the launch when the daemon runs outside its bundle or in the name of another program', () => {
    const [outside, call] = explained({ executable: '/usr/local/bin/node' });
    expect(outside?.detail).toMatch(/runs as \/usr\/local\/bin\/node, outside the application bundle/);
    expect(outside?.fix).toMatch(/daemon stop.*daemon start.*--launch open/);
    expect(call?.status).toBe('failure');
    expect(explained({ launched_as: 'com.apple.Terminal' })[0]?.detail).toMatch(/part of com\.apple\.Terminal/);
    expect(explained({ executable: '/usr/local/bin/node' }, { bundleExecutable: null })[0]?.fix).toBe('Run `ambientctl daemon install`.');
  });

  it('is laid to the signature when the bundle is not as it was signed', () => {
    const [room] = explained({}, { staleness: 'node has been replaced since it was built' });
    expect(room?.detail).toMatch(/built anew: node has been replaced/);
    expect(room?.fix).toMatch(/daemon install.*Allow/);
  });

  it('leaves the tracks alone that are not silent', () => {
    expect(explained({ silent: [] })).toEqual(CHECKS);
  });
});
