import type { Approval, DaemonStatus, SessionSummary } from '@ambient/contract';
import { doneSummary, idleStatus } from '@ambient/contract/test-kit';
import { describe, expect, it } from 'vitest';
import { type MenuItem, type MenuModel, menuModel } from './menu.js';
import { INITIAL, reduce, SILENCE_MS, type TrayInput, type TrayState } from './state.js';

const WALL = Date.parse('2026-11-30T16:08:00Z');
const OPTIONS = { sessionsDir: '/data/sessions', canStartDaemon: true, uid: 1000 };

const IDLE = idleStatus();
const LEVEL = { rms_db: -30, peak_db: -12, speech: true, muted: false };
const LIVE: DaemonStatus = {
  ...IDLE,
  live: {
    id: '2026-11-30T1608',
    name: 'Weekly',
    started_at: '2026-11-30T16:08:00Z',
    elapsed_ms: 60_000,
    paused: false,
    muted: [],
    tracks: ['room', 'call'],
    levels: { room: LEVEL, call: { ...LEVEL, rms_db: -120, speech: false } },
    lines: 0,
  },
};
const APPROVAL: Approval = {
  id: 'a1',
  client: 'Claude',
  tool: 'delete_session',
  summary: 'delete session 2026-11-29T0900',
  session: null,
  created_at: '2026-11-30T16:07:50Z',
  expires_at: '2026-11-30T16:08:50Z',
  state: 'pending',
};
const SESSION = doneSummary('2026-11-30T1500', { duration_s: 125, started_at: '2026-11-30T15:00:00Z' });

const status = (s: DaemonStatus): TrayInput => ({ type: 'event', event: { type: 'status', status: s } });
const after = (...inputs: readonly TrayInput[]): TrayState => inputs.reduce((state, input) => reduce(state, input, 0), INITIAL);
const menu = (state: TrayState, at = 0): MenuModel => menuModel(state, OPTIONS, at, WALL);
const item = (model: MenuModel, id: string): MenuItem => {
  const found = model.items.flatMap((top) => [top, ...(top.items ?? [])]).find((one) => one.id === id);
  if (found === undefined) throw new Error(`no item ${id}`);
  return found;
};
const visible = (model: MenuModel): string[] =>
  model.items.filter(({ hidden, separator }) => hidden !== true && separator !== true).map(({ title }) => title);

describe('the icon', () => {
  const recording = after(status(LIVE));
  it.each<[string, TrayState, number, string]>([
    ['offline without a daemon', INITIAL, 0, 'offline'],
    ['idle', after(status(IDLE)), 0, 'idle'],
    ['recording while somebody speaks', recording, 0, 'recording'],
    ['listening after a while of silence', recording, SILENCE_MS, 'listening'],
    ['paused', after(status({ ...LIVE, live: LIVE.live && { ...LIVE.live, paused: true } })), 0, 'paused'],
    ['transcribing', after(status({ ...IDLE, awaiting_transcript: 1 })), 0, 'transcribing'],
    ['recording while an older session is made text', after(status({ ...LIVE, awaiting_transcript: 1 })), 0, 'recording'],
    [
      'approval before anything else',
      reduce(recording, { type: 'event', event: { type: 'approval', approval: APPROVAL } }, 0),
      0,
      'approval',
    ],
  ])('is %s', (_, state, at, icon) => {
    expect(menu(state, at).icon).toBe(icon);
  });

  it('is warning for a warning of the daemon or of the recording, until it is acknowledged', () => {
    const warning = { code: 'device_lost', message: 'The microphone is gone.', hint: 'Plug it in.', at: '2026-11-30T16:09:00Z' };
    const state = reduce(recording, { type: 'event', event: { type: 'warning', session: '2026-11-30T1608', warning } }, 0);
    expect(menu(state).icon).toBe('warning');
    expect(menu(after(status({ ...IDLE, warnings: [warning] }))).icon).toBe('warning');
    const acknowledge = item(menu(state), 'warning.0.acknowledge').action;
    if (acknowledge?.kind !== 'acknowledge') throw new Error('no acknowledgement');
    const calm = reduce(state, { type: 'acknowledged', key: acknowledge.key }, 0);
    expect(menu(calm).icon).toBe('recording');
    // The same again is not news; another one is.
    expect(menu(reduce(calm, { type: 'event', event: { type: 'warning', session: '2026-11-30T1608', warning } }, 0)).icon).toBe(
      'recording',
    );
    const other = { ...warning, message: 'The disk is nearly full.' };
    expect(menu(reduce(calm, { type: 'event', event: { type: 'warning', session: '2026-11-30T1608', warning: other } }, 0)).icon).toBe(
      'warning',
    );
  });

  it('does not warn of another session', () => {
    const warning = { code: 'x', message: 'x', at: '2026-11-30T16:09:00Z' };
    expect(menu(reduce(recording, { type: 'event', event: { type: 'warning', session: 'other', warning } }, 0)).icon).toBe('recording');
  });

  it('leaves listening as soon as a voice is heard on a track that is not muted', () => {
    const hear = (speech: boolean, muted: boolean, at: number, state = recording): TrayState =>
      reduce(
        state,
        {
          type: 'event',
          event: { type: 'levels', session: '2026-11-30T1608', elapsed_ms: at, levels: { room: { ...LEVEL, speech, muted } } },
        },
        at,
      );
    expect(menu(hear(false, false, SILENCE_MS), SILENCE_MS).icon).toBe('listening');
    expect(menu(hear(true, true, SILENCE_MS), SILENCE_MS).icon).toBe('listening');
    expect(menu(hear(true, false, SILENCE_MS), SILENCE_MS).icon).toBe('recording');
  });
});

describe('the menu', () => {
  it('while nothing is recorded', () => {
    expect(visible(menu(after(status(IDLE), { type: 'last', session: SESSION })))).toEqual([
      'Not recording',
      'Start recording',
      expect.stringMatching(/^Last: \d+ \w+ \d\d:\d\d \(2:05\)$/),
      'Open the sessions folder',
      'Quit',
    ]);
  });

  it('while recording shows the elapsed time going on and both levels', () => {
    const model = menu(after(status(LIVE)), 3_500);
    expect(visible(model)).toEqual([
      'Recording 1:03: Weekly',
      'Room  ▮▮▮▮▯▯▯▯ −30 dB',
      'Call  ▯▯▯▯▯▯▯▯ silent',
      'Stop recording',
      'Pause',
      'Mute room',
      'Mute call',
      'Open the sessions folder',
      'Quit',
    ]);
    expect(item(model, 'stop').action).toEqual({ kind: 'stop' });
    expect(item(model, 'mute.room').action).toEqual({ kind: 'mute', track: 'room', muted: true });
  });

  it('offers to undo a pause and a mute', () => {
    const live = LIVE.live && { ...LIVE.live, paused: true, muted: ['call' as const], tracks: ['call' as const] };
    const model = menu(after(status({ ...LIVE, live })));
    expect(item(model, 'pause')).toMatchObject({ title: 'Resume', action: { kind: 'resume' } });
    expect(item(model, 'mute.call')).toMatchObject({ title: 'Unmute call', action: { kind: 'mute', track: 'call', muted: false } });
    expect(item(model, 'mute.room').hidden).toBe(true);
    expect(item(model, 'level.room').hidden).toBe(true);
  });

  it('without a daemon offers to start it, or says how', () => {
    expect(visible(menu(INITIAL))).toEqual(['The daemon is not running', 'Start Ambient', 'Open the sessions folder', 'Quit']);
    expect(visible(menuModel(INITIAL, { ...OPTIONS, canStartDaemon: false }, 0, WALL))[1]).toContain('ambientctl daemon start');
  });

  it('lets approvals be allowed and denied, and drops them when they are decided or expire', () => {
    const state = after(status(IDLE), { type: 'event', event: { type: 'approval', approval: APPROVAL } });
    const model = menu(state);
    expect(item(model, 'approval.0')).toMatchObject({ title: 'Claude wants to: delete session 2026-11-29T0900', hidden: false });
    expect(item(model, 'approval.0.approve').action).toEqual({ kind: 'decide', approval: 'a1', decision: 'approve' });
    expect(item(model, 'approval.0.deny').action).toEqual({ kind: 'decide', approval: 'a1', decision: 'deny' });
    const decided = reduce(state, { type: 'event', event: { type: 'approval', approval: { ...APPROVAL, state: 'denied' } } }, 0);
    expect(item(menu(decided), 'approval.0').hidden).toBe(true);
    expect(item(menuModel(state, OPTIONS, 0, WALL + 60_000), 'approval.0').hidden).toBe(true);
  });

  it('counts approvals and warnings that have no line of their own', () => {
    const approvals = Array.from({ length: 6 }, (_, i) => ({ ...APPROVAL, id: `a${i}` }));
    expect(item(menu(after(status(IDLE), { type: 'approvals', approvals })), 'approvals.more')).toMatchObject({
      title: '2 more approvals',
      hidden: false,
    });
    const warnings = Array.from({ length: 5 }, (_, i) => ({ code: 'x', message: `Number ${i}`, at: '' }));
    expect(item(menu(after(status({ ...IDLE, warnings }))), 'warnings.more')).toMatchObject({ title: '1 more warning', hidden: false });
  });

  it('opens the transcript of the last session, or its folder while there is none', () => {
    const path = (session: SessionSummary): unknown => item(menu(after(status(IDLE), { type: 'last', session })), 'last').action;
    expect(path(SESSION)).toEqual({ kind: 'open', path: '/data/sessions/2026-11-30T1500/transcript.md' });
    expect(path({ ...SESSION, transcribed: false })).toEqual({ kind: 'open', path: '/data/sessions/2026-11-30T1500' });
  });

  it('follows the newest session that ended, and forgets a deleted one', () => {
    const newer = { ...SESSION, id: '2026-11-30T1608', name: 'Newer' };
    const state = after(status(IDLE), { type: 'last', session: SESSION });
    const event = (session: SessionSummary): TrayInput => ({ type: 'event', event: { type: 'session', session } });
    expect(reduce(state, event({ ...newer, state: 'live' }), 0).last?.id).toBe(SESSION.id);
    expect(reduce(state, event(newer), 0).last?.name).toBe('Newer');
    expect(reduce(state, event({ ...SESSION, id: '2026-11-29T0000' }), 0).last?.id).toBe(SESSION.id);
    expect(reduce(state, { type: 'event', event: { type: 'removed', session: SESSION.id } }, 0).last).toBeNull();
  });

  it('says what went wrong with a click', () => {
    const state = after(status(IDLE), { type: 'notice', message: 'No microphone was found.', hint: 'Plug one in.' });
    expect(item(menu(state), 'warning.0').title).toBe('Warning: No microphone was found.');
    expect(item(menu(state), 'warning.0.hint')).toMatchObject({ title: 'Plug one in.', hidden: false });
  });

  it('keeps names on one line and bounded', () => {
    const live = LIVE.live && { ...LIVE.live, name: `a\nb\u202e${'x'.repeat(200)}` };
    const { title } = item(menu(after(status({ ...LIVE, live }))), 'headline');
    expect(title).toMatch(/^Recording 1:00: a b x+…$/);
    expect(title.length).toBeLessThan(70);
  });

  it('has the same items in the same order in every state, because a tray can only hide and show', () => {
    const ids = (model: MenuModel): string[] => model.items.flatMap(({ id, items = [] }) => [id, ...items.map((child) => child.id)]);
    const all = [INITIAL, after(status(IDLE)), after(status(LIVE), { type: 'approvals', approvals: [APPROVAL] })].map((s) => ids(menu(s)));
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
    expect(new Set(all[0]).size).toBe(all[0]?.length);
  });

  it('starts empty again after the daemon went away', () => {
    const state = reduce(after(status(LIVE), { type: 'approvals', approvals: [APPROVAL] }), { type: 'disconnected' }, 0);
    expect(state.live).toBeNull();
    expect(state.approvals).toEqual([]);
    expect(menu(state).icon).toBe('offline');
  });
});
