import type { Approval, DaemonEvent, DaemonStatus, Levels, SessionSummary, Track, Warning } from '@ambient/contract';

/** Without a voice on any track for this long, a recording is listening in silence, ms. */
export const SILENCE_MS = 5_000;

/** The recording in progress, as far as the tray follows it. Times are on the tray's own steady clock, ms. */
export interface LiveState {
  readonly id: string;
  readonly name: string | null;
  readonly paused: boolean;
  readonly muted: readonly Track[];
  readonly tracks: readonly Track[];
  readonly levels: Levels;
  /** Length of the recording when it was last told, ms, and when that was. */
  readonly elapsedMs: number;
  readonly toldAt: number;
  readonly heardAt: number;
}

/** A warning to show, with the key under which it is acknowledged. */
export interface Notice {
  readonly key: string;
  readonly message: string;
  readonly hint: string | null;
}

/** All that the tray knows. Nothing of it is kept: every part comes from the control socket again. */
export interface TrayState {
  readonly connected: boolean;
  readonly status: DaemonStatus | null;
  readonly live: LiveState | null;
  /** Those that wait for a decision, oldest first. */
  readonly approvals: readonly Approval[];
  /** Warnings of the recording in progress. */
  readonly liveWarnings: readonly Notice[];
  /** What went wrong with a click. */
  readonly notices: readonly Notice[];
  readonly acknowledged: ReadonlySet<string>;
  /** The newest session that is no longer recorded. */
  readonly last: SessionSummary | null;
}

export const INITIAL: TrayState = {
  connected: false,
  status: null,
  live: null,
  approvals: [],
  liveWarnings: [],
  notices: [],
  acknowledged: new Set(),
  last: null,
};

export type TrayInput =
  | { readonly type: 'event'; readonly event: DaemonEvent }
  | { readonly type: 'disconnected' }
  | { readonly type: 'approvals'; readonly approvals: readonly Approval[] }
  | { readonly type: 'last'; readonly session: SessionSummary | null }
  | { readonly type: 'live_warnings'; readonly session: string; readonly warnings: readonly Warning[] }
  | { readonly type: 'notice'; readonly message: string; readonly hint: string | null }
  | { readonly type: 'acknowledged'; readonly key: string };

/** The state after `input`. Pure. @param at the tray's steady clock, ms */
export function reduce(state: TrayState, input: TrayInput, at: number): TrayState {
  switch (input.type) {
    case 'event':
      return reduceEvent(state, input.event, at);
    case 'disconnected':
      return { ...INITIAL, acknowledged: state.acknowledged, notices: state.notices };
    case 'approvals':
      return { ...state, approvals: input.approvals.filter(({ state }) => state === 'pending') };
    case 'last':
      return { ...state, last: input.session };
    case 'live_warnings':
      return input.session === state.live?.id ? { ...state, liveWarnings: input.warnings.map(noticeOf) } : state;
    case 'notice': {
      const { message, hint } = input;
      return {
        ...state,
        notices: [...state.notices.filter((notice) => notice.message !== message), { key: `notice ${message}`, message, hint }],
      };
    }
    case 'acknowledged': {
      const notices = state.notices.filter(({ key }) => key !== input.key);
      return { ...state, notices, acknowledged: new Set([...state.acknowledged, input.key]) };
    }
  }
}

function reduceEvent(state: TrayState, event: DaemonEvent, at: number): TrayState {
  switch (event.type) {
    case 'status': {
      const live = followLive(state.live, event.status, at);
      const sameSession = live !== null && live.id === state.live?.id;
      return { ...state, connected: true, status: event.status, live, liveWarnings: sameSession ? state.liveWarnings : [] };
    }
    case 'levels': {
      const { live } = state;
      if (live === null || live.id !== event.session) return state;
      const heardAt = hasSpeech(event.levels) ? at : live.heardAt;
      return { ...state, live: { ...live, levels: event.levels, elapsedMs: event.elapsed_ms, toldAt: at, heardAt } };
    }
    case 'warning':
      if (event.session === null || event.session !== state.live?.id) return state;
      return { ...state, liveWarnings: [...state.liveWarnings, noticeOf(event.warning)] };
    case 'approval': {
      const others = state.approvals.filter(({ id }) => id !== event.approval.id);
      return { ...state, approvals: event.approval.state === 'pending' ? [...others, event.approval] : others };
    }
    case 'session':
      return isNewestEnded(event.session, state.last) ? { ...state, last: event.session } : state;
    case 'removed':
      return event.session === state.last?.id ? { ...state, last: null } : state;
    default:
      return state;
  }
}

function followLive(previous: LiveState | null, { live }: DaemonStatus, at: number): LiveState | null {
  if (live === null) return null;
  const { id, name, paused, muted, tracks, levels, elapsed_ms: elapsedMs } = live;
  const heardAt = previous?.id === id && !hasSpeech(levels) ? previous.heardAt : at;
  return { id, name, paused, muted, tracks, levels, elapsedMs, toldAt: at, heardAt };
}

function hasSpeech(levels: Levels): boolean {
  return Object.values(levels).some((level) => level.speech && !level.muted);
}

/** Ids sort by time. */
function isNewestEnded(session: SessionSummary, last: SessionSummary | null): boolean {
  return session.state !== 'live' && (last === null || session.id >= last.id);
}

function noticeOf(warning: Warning): Notice {
  const { code, message, hint, track } = warning;
  return { key: `${code} ${track ?? ''} ${message}`, message, hint: hint ?? null };
}

/** Warnings that nobody has acknowledged: of clicks, of the daemon, of the recording. Each once. */
export function openWarnings(state: TrayState): readonly Notice[] {
  const all = [...state.notices, ...(state.status?.warnings ?? []).map(noticeOf), ...state.liveWarnings];
  return [...new Map(all.map((notice) => [notice.key, notice])).values()].filter(({ key }) => !state.acknowledged.has(key));
}

/** Approvals that have not expired. @param wallMs wall clock, ms since the epoch */
export function openApprovals(state: TrayState, wallMs: number): readonly Approval[] {
  return state.approvals.filter(({ expires_at }) => Date.parse(expires_at) > wallMs);
}
