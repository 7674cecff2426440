import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { doneSummary, idleStatus } from '@ambient/contract/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandOf, renderSwiftBar } from './swiftbar.js';
import { pluginMenu } from './swiftbar-plugin.js';

const OPTIONS = { sessionsDir: '/data/sessions', canStartDaemon: true, uid: 1000 };
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'bar-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** A stand-in for ambientctl that answers from the given texts, by verb. */
async function ambientctl(answers: Record<string, unknown>): Promise<string[]> {
  const file = path.join(dir, 'ambientctl');
  const cases = Object.entries(answers).map(([verb, answer]) => `${verb}) cat <<'X'\n${JSON.stringify(answer)}\nX\n;;`);
  await writeFile(file, `#!/bin/sh\ncase "$1" in\n${cases.join('\n')}\n*) exit 1 ;; esac\n`);
  await chmod(file, 0o755);
  return [file];
}

const STATUS = {
  running: true,
  ...idleStatus({
    live: {
      id: '2026-11-30T1608',
      name: 'a|b',
      started_at: '2026-11-30T16:08:00Z',
      elapsed_ms: 61_000,
      paused: false,
      muted: ['call'],
      tracks: ['room', 'call'],
      levels: {},
      lines: 0,
    },
    approvals_pending: 1,
  }),
};
const APPROVALS = [
  {
    id: 'a1',
    client: 'Claude',
    tool: 'x',
    summary: '--delete "it"',
    session: null,
    created_at: '',
    expires_at: '2999-01-01T00:00:00Z',
    state: 'pending',
  },
];
const SESSIONS = [
  doneSummary('2026-11-30T1608', { state: 'live', live: true, transcribed: false }),
  doneSummary('2026-11-30T1500', { duration_s: 5, name: 'Before' }),
];

describe('the status bar plugin', () => {
  it('prints the same menu from `ambientctl status --json`', async () => {
    const command = await ambientctl({ status: STATUS, approvals: APPROVALS, sessions: SESSIONS });
    const model = await pluginMenu(command, OPTIONS);
    expect(model.icon).toBe('approval');
    const ctl = `bash="${command[0]}"`;
    expect(renderSwiftBar(model, { ambientctl: command, image: 'AAAA' }).split('\n')).toEqual([
      '| templateImage=AAAA tooltip="Ambient: Recording 1:01: a¦b"',
      '---',
      'Recording 1:01: a¦b',
      'Claude wants to: --delete "it"',
      `--Allow | ${ctl} param1="approvals" param2="approve" param3="a1" terminal=false refresh=true`,
      `--Deny | ${ctl} param1="approvals" param2="deny" param3="a1" terminal=false refresh=true`,
      '---',
      `Stop recording | ${ctl} param1="stop" terminal=false refresh=true`,
      `Pause | ${ctl} param1="pause" terminal=false refresh=true`,
      `Mute room | ${ctl} param1="mute" param2="room" terminal=false refresh=true`,
      `Unmute call | ${ctl} param1="mute" param2="call" param3="--off" terminal=false refresh=true`,
      '---',
      'Last: Before, 2026-11-30T1500 (0:05) | bash="/usr/bin/open" param1="/data/sessions/2026-11-30T1500/transcript.md" terminal=false refresh=true',
      'Open the sessions folder | bash="/usr/bin/open" param1="/data/sessions" terminal=false refresh=true',
      '',
    ]);
  });

  it('offers to start a daemon that does not run, and asks it nothing', async () => {
    const command = await ambientctl({ status: { running: false, pid: null, live: null } });
    const text = renderSwiftBar(await pluginMenu(command, OPTIONS), { ambientctl: command, image: 'AAAA' });
    expect(text).toContain('Start Ambient | ');
    expect(text).toContain('param1="daemon" param2="start"');
  });

  it('is offline when ambientctl is missing or says nothing of use', async () => {
    expect((await pluginMenu(['/nonexistent'], OPTIONS)).icon).toBe('offline');
    expect((await pluginMenu(await ambientctl({ status: 'no' }), OPTIONS)).icon).toBe('offline');
  });

  it('has no command for what only the tray can do', () => {
    expect(commandOf({ kind: 'quit' }, ['a'])).toBeUndefined();
    expect(commandOf({ kind: 'acknowledge', key: 'k' }, ['a'])).toBeUndefined();
  });
});
