import path from 'node:path';
import { type Approval, homePaths, type SessionSummary, TRACKS, type Track } from '@ambient/contract';
import { clock, meter, oneLine, when } from './format.js';
import { type IconName, iconOf, isTranscribing } from './icon.js';
import { type Notice, openApprovals, openWarnings, type TrayState } from './state.js';

/** What a click does. */
export type Action =
  | { readonly kind: 'start' | 'stop' | 'pause' | 'resume' | 'start_daemon' | 'quit' }
  | { readonly kind: 'mute'; readonly track: Track; readonly muted: boolean }
  | { readonly kind: 'decide'; readonly approval: string; readonly decision: 'approve' | 'deny' }
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'acknowledge'; readonly key: string };

export interface MenuItem {
  /** The same item has the same id in every menu; a tray cannot add items later, only hide and show them. */
  readonly id: string;
  readonly title: string;
  readonly hidden?: boolean;
  /** What a click does; without it (and without items) the line is there to be read. */
  readonly action?: Action;
  readonly items?: readonly MenuItem[];
  readonly separator?: boolean;
}

export interface MenuModel {
  readonly icon: IconName;
  readonly tooltip: string;
  readonly items: readonly MenuItem[];
}

export interface MenuOptions {
  /** Folder of session folders while no daemon says where its home is. */
  readonly sessionsDir: string;
  /** The tray knows how to start the daemon. */
  readonly canStartDaemon: boolean;
  readonly uid: number;
}

/** So many approvals and warnings have lines of their own; further ones are counted. */
export const APPROVAL_SLOTS = 4;
export const WARNING_SLOTS = 4;

const TRACK_NAMES: Readonly<Record<Track, string>> = { room: 'Room', call: 'Call' };

/**
 * The whole menu for a state. Pure; always the same items in the same order.
 * @param at the tray's steady clock, ms. @param wallMs wall clock, ms since the epoch
 */
export function menuModel(state: TrayState, options: MenuOptions, at: number, wallMs: number): MenuModel {
  const approvals = openApprovals(state, wallMs);
  const warnings = openWarnings(state);
  const headline = headlineOf(state, at);
  return {
    icon: iconOf(state, at, wallMs),
    tooltip: `Ambient: ${headline}`,
    items: [
      text('headline', headline),
      ...TRACKS.map((track) => levelItem(state, track)),
      ...approvalItems(approvals),
      ...warningItems(warnings),
      separator('after_state'),
      ...recordingItems(state, options),
      separator('after_recording'),
      ...sessionItems(state, options),
      separator('after_sessions'),
      button('quit', 'Quit', { kind: 'quit' }),
    ],
  };
}

function headlineOf(state: TrayState, at: number): string {
  const { live, status } = state;
  if (!state.connected || status === null) return 'The daemon is not running';
  if (live !== null) {
    const name = live.name === null ? '' : `: ${oneLine(live.name, 40)}`;
    return `${live.paused ? 'Paused' : 'Recording'} ${clock(live.elapsedMs + (at - live.toldAt))}${name}`;
  }
  if (!isTranscribing(state)) return 'Not recording';
  const count = status.awaiting_transcript + status.imports.filter(({ state }) => state === 'decoding' || state === 'transcribing').length;
  return count === 1 ? 'Making text of one session' : `Making text of ${count} sessions`;
}

function levelItem({ live }: TrayState, track: Track): MenuItem {
  const level = live?.levels[track];
  const shown = live?.tracks.includes(track) === true && level !== undefined;
  return { ...text(`level.${track}`, `${TRACK_NAMES[track]}  ${shown ? meter(level) : ''}`), hidden: !shown };
}

function approvalItems(approvals: readonly Approval[]): MenuItem[] {
  const slots = Array.from({ length: APPROVAL_SLOTS }, (_, i): MenuItem => {
    const approval = approvals[i];
    const decide = (decision: 'approve' | 'deny'): Partial<MenuItem> =>
      approval === undefined ? {} : { action: { kind: 'decide', approval: approval.id, decision } };
    return {
      id: `approval.${i}`,
      title: approval === undefined ? '' : oneLine(`${approval.client} wants to: ${approval.summary}`),
      hidden: approval === undefined,
      items: [
        { id: `approval.${i}.approve`, title: 'Allow', ...decide('approve') },
        { id: `approval.${i}.deny`, title: 'Deny', ...decide('deny') },
      ],
    };
  });
  return [...slots, more('approvals', 'approval', approvals.length - APPROVAL_SLOTS)];
}

function warningItems(warnings: readonly Notice[]): MenuItem[] {
  const slots = Array.from({ length: WARNING_SLOTS }, (_, i): MenuItem => {
    const warning = warnings[i];
    return {
      id: `warning.${i}`,
      title: warning === undefined ? '' : oneLine(`Warning: ${warning.message}`),
      hidden: warning === undefined,
      items: [
        { ...text(`warning.${i}.hint`, oneLine(warning?.hint ?? '', 120)), hidden: warning?.hint == null },
        {
          id: `warning.${i}.acknowledge`,
          title: 'Understood',
          ...(warning === undefined ? {} : { action: { kind: 'acknowledge', key: warning.key } }),
        },
      ],
    };
  });
  return [...slots, more('warnings', 'warning', warnings.length - WARNING_SLOTS)];
}

function more(id: string, noun: string, count: number): MenuItem {
  return { ...text(`${id}.more`, `${count} more ${noun}${count === 1 ? '' : 's'}`), hidden: count <= 0 };
}

function recordingItems({ connected, live }: TrayState, { canStartDaemon }: MenuOptions): MenuItem[] {
  return [
    { ...button('start_daemon', 'Start Ambient', { kind: 'start_daemon' }), hidden: connected || !canStartDaemon },
    { ...text('start_hint', 'Start it with: ambientctl daemon start'), hidden: connected || canStartDaemon },
    { ...button('start', 'Start recording', { kind: 'start' }), hidden: !connected || live !== null },
    { ...button('stop', 'Stop recording', { kind: 'stop' }), hidden: live === null },
    {
      ...(live?.paused === true ? button('pause', 'Resume', { kind: 'resume' }) : button('pause', 'Pause', { kind: 'pause' })),
      hidden: live === null,
    },
    ...TRACKS.map((track): MenuItem => {
      const muted = live?.muted.includes(track) === true;
      const verb = muted ? 'Unmute' : 'Mute';
      return {
        ...button(`mute.${track}`, `${verb} ${TRACK_NAMES[track].toLowerCase()}`, { kind: 'mute', track, muted: !muted }),
        hidden: live?.tracks.includes(track) !== true,
      };
    }),
  ];
}

function sessionItems({ status, last }: TrayState, { sessionsDir, uid }: MenuOptions): MenuItem[] {
  const sessions = status === null ? sessionsDir : homePaths(status.home, uid).sessions;
  return [
    { ...button('last', lastTitle(last), { kind: 'open', path: lastPath(last, sessions) }), hidden: last === null },
    button('folder', 'Open the sessions folder', { kind: 'open', path: sessions }),
  ];
}

function lastTitle(last: SessionSummary | null): string {
  if (last === null) return '';
  const name = last.name === null ? '' : `${oneLine(last.name, 40)}, `;
  const length = last.duration_s === null ? '' : ` (${clock(last.duration_s * 1000)})`;
  const notes = [last.transcribed ? '' : 'not yet text', last.warning_count > 0 ? `${last.warning_count} warnings` : ''].filter(
    (n) => n !== '',
  );
  return `Last: ${name}${last.started_at === null ? last.id : when(last.started_at)}${length}${notes.map((note) => `, ${note}`).join('')}`;
}

function lastPath(last: SessionSummary | null, sessions: string): string {
  if (last === null) return sessions;
  const dir = path.resolve(sessions, last.dir);
  return last.transcribed ? path.join(dir, 'transcript.md') : dir;
}

function text(id: string, title: string): MenuItem {
  return { id, title };
}

function button(id: string, title: string, action: Action): MenuItem {
  return { id, title, action };
}

function separator(id: string): MenuItem {
  return { id, title: '', separator: true };
}
