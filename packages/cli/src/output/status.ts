import type { DaemonStatus, Level, LiveStatus, Track } from '@ambient/contract';
import type { Paint } from './paint.js';
import type { View } from './printer.js';
import { fields } from './table.js';
import { plain } from './text.js';
import { clock, length, localMinute } from './time.js';

/** The daemon's state for people. */
export function statusText(status: DaemonStatus, { width, paint }: View): string {
  const { live, recognizer, imports, mcp } = status;
  const pairs: [string, string][] = [];
  if (live === null) pairs.push(['Recording', 'nothing']);
  else pairs.push(...liveFields(live, paint));
  if (status.awaiting_transcript > 0)
    pairs.push(['Behind', `${status.awaiting_transcript} without a full transcript, ${length(status.lag_s * 1000)} of audio to go`]);
  else if (status.lag_s >= 5) pairs.push(['Behind', `${length(status.lag_s * 1000)} of audio to go`]);
  for (const { file, state, progress, error } of imports.filter((item) => item.state !== 'done'))
    pairs.push(['Import', plain(`${file}: ${state === 'failed' ? `failed: ${error ?? ''}` : `${state} ${Math.round(progress * 100)} %`}`)]);
  pairs.push(['Sessions', String(status.sessions)]);
  pairs.push(['Recognizer', plain(`${recognizer.model}, ${recognizer.state}${recognizer.error === null ? '' : `: ${recognizer.error}`}`)]);
  if (mcp.enabled) pairs.push(['MCP', `on, ${mcp.connections} connected`]);
  if (status.watching !== null) pairs.push(['Watching', plain(`${status.watching.client}, since ${localMinute(status.watching.since)}`)]);
  if (status.approvals_pending > 0)
    pairs.push(['Approvals', paint('yellow', `${status.approvals_pending} waiting: see \`ambientctl approvals\``)]);
  for (const { message, hint } of status.warnings) pairs.push(['Warning', plain(hint === undefined ? message : `${message} ${hint}`)]);
  pairs.push(['Daemon', `pid ${status.pid}, version ${plain(status.version)}, since ${localMinute(status.started_at)}`]);
  pairs.push(['Home', plain(status.home)]);
  return fields(pairs, width, paint);
}

function liveFields(live: LiveStatus, paint: Paint): [string, string][] {
  const name = live.name === null ? '' : ` "${plain(live.name)}"`;
  const state = live.paused ? paint('yellow', 'paused') : paint('red', 'on');
  const lines = `${live.lines} ${live.lines === 1 ? 'line' : 'lines'}`;
  return [
    ['Recording', `${plain(live.id)}${name}, ${state}, ${clock(live.elapsed_ms)}, ${lines}`],
    ...live.tracks.map((track): [string, string] => [track === 'room' ? 'Room' : 'Call', levelText(live, track)]),
  ];
}

function levelText(live: LiveStatus, track: Track): string {
  const level: Level | undefined = live.levels[track];
  if (live.muted.includes(track)) return 'muted';
  if (level === undefined) return 'no level yet';
  return `${meter(level.rms_db)} ${Math.round(level.rms_db)} dB${level.speech ? ', speech' : ''}`;
}

/** Ten steps from -60 dBFS to 0. */
function meter(db: number): string {
  const filled = Math.max(0, Math.min(10, Math.round((db + 60) / 6)));
  return `[${'#'.repeat(filled)}${'.'.repeat(10 - filled)}]`;
}
