import { execFile } from 'node:child_process';
import { Approval, DaemonStatus, SessionRow, SessionState, type SessionSummary } from '@ambient/contract';
import { type MenuModel, type MenuOptions, menuModel } from './menu.js';
import { INITIAL, reduce, type TrayState } from './state.js';

/** A status bar runs its plugin often and shows nothing meanwhile, ms. */
const TIMEOUT_MS = 5_000;

/**
 * The menu as `ambientctl status --json` tells it, for status bars that run a program every few seconds. Asks for
 * approvals and sessions too, when there is a daemon to ask; never starts one.
 */
export async function pluginMenu(ambientctl: readonly string[], options: MenuOptions): Promise<MenuModel> {
  const status = DaemonStatus.safeParse(await ask(ambientctl, ['status', '--json']));
  let state: TrayState = INITIAL;
  if (status.success) {
    state = reduce(state, { type: 'event', event: { type: 'status', status: status.data } }, 0);
    if (status.data.approvals_pending > 0) {
      const approvals = list(await ask(ambientctl, ['approvals', 'list', '--json'])).flatMap((item) => Approval.safeParse(item).data ?? []);
      state = reduce(state, { type: 'approvals', approvals }, 0);
    }
    const rows = list(await ask(ambientctl, ['sessions', '--json'])).flatMap((item) => summaryOf(item) ?? []);
    state = reduce(state, { type: 'last', session: rows.find((row) => row.state !== 'live') ?? null }, 0);
  }
  return menuModel(state, options, 0, Date.now());
}

/** `sessions --json` prints the rows an agent sees, and the state. */
function summaryOf(item: unknown): SessionSummary | undefined {
  const row = SessionRow.safeParse(item);
  const state = SessionState.safeParse(typeof item === 'object' && item !== null && 'state' in item ? item.state : undefined);
  if (!row.success || !state.success) return undefined;
  return { ...row.data, state: state.data, ended_at: null, has_audio: false, tags: [], pinned: false, speakers: [], warning_count: 0 };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function ask([command = '', ...before]: readonly string[], args: readonly string[]): Promise<unknown> {
  return new Promise((resolve) => {
    execFile(command, [...before, ...args], { timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      if (error !== null) resolve(undefined);
      else
        try {
          resolve(JSON.parse(stdout));
        } catch {
          resolve(undefined);
        }
    });
  });
}
