import type { CoverageGap, RawLine, VerboseLine, Warning } from '@ambient/contract';
import { encode } from '@toon-format/toon';
import type { Session } from '../sessions/types.js';

/** One row of a transcript as the library tools give it. */
export interface Row {
  /** ISO 8601 with the offset of the place where it was recorded. */
  readonly timestamp: string;
  /** `M` microphone, `S` system audio, either with `:label` when the speaker is known; `E` an event. */
  readonly source: string;
  /** `C` confirmed; `U` unconfirmed: little confidence, or perhaps the loudspeaker heard again; `N` no speech. */
  readonly status: 'C' | 'U' | 'N';
  /** Number of the line from 1; null for an event. */
  readonly segment: number | null;
  /** 0..1, or null when the model gives none. */
  readonly confidence: number | null;
  /** Seconds. */
  readonly duration: number | null;
  readonly language: string | null;
  readonly text: string;
}

/** The columns, as TOON names them. */
export const ROW_SCHEMA = 'transcript{timestamp,source,status,segment,confidence,duration,language,text}';
/** A line below this confidence is unconfirmed. */
const CONFIDENT = 0.5;

/** Rows of the lines `[from, to)`, indices from 0. */
export async function lineRows(session: Session, from: number, to: number): Promise<Row[]> {
  if (to <= from) return [];
  const [raw, lines] = await Promise.all([session.rawLines(), session.verboseLines()]);
  const timeAt = sessionClock(session.file.started_at);
  return lines.slice(from, to).map((line, i) => lineRow(line, raw[from + i], from + i + 1, timeAt));
}

function lineRow(line: VerboseLine, raw: RawLine | undefined, segment: number, timeAt: (ms: number) => string): Row {
  const source = line.track === 'room' ? 'M' : 'S';
  const doubtful = line.bleed || (line.confidence !== null && line.confidence < CONFIDENT);
  return {
    timestamp: timeAt(line.start_ms),
    source: line.speaker === null ? source : `${source}:${line.speaker}`,
    status: line.struck || line.unreadable || line.text === '' ? 'N' : doubtful ? 'U' : 'C',
    segment,
    confidence: line.confidence === null ? null : round(line.confidence),
    duration: seconds(line.start_ms, line.end_ms),
    language: raw?.language ?? null,
    text: line.unreadable ? 'This line is damaged on disk and cannot be read.' : line.text,
  };
}

export function warningRow(warning: Warning, startedAt: string): Row {
  const { at, from_ms, to_ms, message } = warning;
  const timestamp = from_ms === undefined ? at : sessionClock(startedAt)(from_ms);
  return eventRow(timestamp, from_ms === undefined || to_ms === undefined ? null : seconds(from_ms, to_ms), message);
}

const REASONS: Readonly<Record<CoverageGap['reason'], string>> = {
  device_lost: 'the device was lost',
  recorder_died: 'the recorder ended',
  recorder_stalled: 'the recorder gave no audio',
  too_fast: 'the device gave samples faster than time passes',
  sleep: 'the computer slept',
  disk_full: 'the disk was full',
  daemon_died: 'the daemon was not running',
  paused: 'recording was paused',
  muted: 'the track was muted',
  struck: 'it was struck by the user',
  not_started: 'the track started later',
};

export function gapReason(gap: CoverageGap): string {
  return REASONS[gap.reason];
}

export function gapRow(gap: CoverageGap, startedAt: string): Row {
  return eventRow(sessionClock(startedAt)(gap.from_ms), seconds(gap.from_ms, gap.to_ms), gapText(gap));
}

/** What the user wanted is told apart from what went wrong. */
function gapText(gap: CoverageGap): string {
  const track = gap.track === 'room' ? 'microphone' : 'system audio';
  switch (gap.reason) {
    case 'paused':
      return `Recording was paused (${track}).`;
    case 'muted':
      return `The ${track} was muted by the user.`;
    case 'struck':
      return `Struck by the user: this stretch of the ${track} was removed.`;
    default:
      return `No ${track}: ${gapReason(gap)}.`;
  }
}

function eventRow(timestamp: string, duration: number | null, text: string): Row {
  return { timestamp, source: 'E', status: 'N', segment: null, confidence: null, duration, language: null, text };
}

/** Rows as a TOON document, `transcript[N]{…}:` and one indented line a row. */
export function toonDocument(rows: readonly Row[]): string {
  return encode({ transcript: rows });
}

/** Rows alone under TOON quoting, one a line; their columns are `ROW_SCHEMA`. */
export function toonRows(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  return toonDocument(rows)
    .split('\n')
    .slice(1)
    .map((line) => line.trimStart())
    .join('\n');
}

/** Wall time at a point on a session's clock (ms), in the offset that its start was written in. */
function sessionClock(startedAt: string): (ms: number) => string {
  // A folder that was copied in may hold any text here; its lines still count from somewhere.
  const start = Date.parse(startedAt) || 0;
  const zone = /(Z|[+-]\d{2}:\d{2})$/.exec(startedAt)?.[1] ?? 'Z';
  const sign = zone.startsWith('-') ? -1 : 1;
  const offsetMs = zone === 'Z' ? 0 : sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000;
  return (ms) => {
    const local = new Date(start + Math.round(ms) + offsetMs);
    return Number.isNaN(local.getTime()) ? startedAt : local.toISOString().slice(0, -1) + zone;
  };
}

function seconds(fromMs: number, toMs: number): number {
  return round(Math.max(0, toMs - fromMs) / 1000);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
