import {
  AmbientError,
  type CoverageGap,
  type Edit,
  type RawLine,
  SAMPLES_PER_MS,
  type SessionFile,
  TRACKS,
  Track,
} from '@ambient/contract';
import { z } from 'zod';
import { audioSamples, trackPath } from './audio-files.js';
import { zeroSamples } from './wav.js';

/**
 * A turn that was being recognised while its speech was struck arrives later and must not bring the words back. One that
 * reaches less than this into a struck stretch holds only its edge: turns carry 200 ms of context on both sides.
 */
const EDGE_MS = 250;
/** The spool of a live track may be this much behind what was heard. */
const SPOOL_LAG_MS = 2000;

/** A struck stretch of one track, on the session's clock; `rest_of_turn`: of a turn that goes because another stretch touches it. */
export const Strike = z.object({ track: Track, from_ms: z.number(), to_ms: z.number(), rest_of_turn: z.literal(true).optional() });
export type Strike = z.infer<typeof Strike>;

/** Strikes that were begun; they stand in `session.json` until nothing of the speech is left. */
export function unfinishedStrikes(file: SessionFile): Strike[] {
  const parsed = z.array(Strike).safeParse(file.unfinished_strikes);
  return parsed.success ? parsed.data : [];
}

/** Every stretch that was struck, by the ledger. */
export function struckStretches(file: SessionFile): CoverageGap[] {
  return file.coverage.filter((gap) => gap.reason === 'struck');
}

/** What a strike becomes in the ledger. */
export function strikeGap(strike: Strike): CoverageGap {
  return { ...strike, reason: 'struck' };
}

/**
 * The stretches to strike, one a track, clipped to what was recorded so that later speech stays untouched.
 * @param spokenMs where the last line ends, on the session's clock
 * @throws AmbientError `bad_request` for an empty range, one that lies behind the session's end, or an unknown track
 */
export async function planStrikes(
  session: { readonly file: SessionFile; readonly audioDir: string; readonly live: boolean },
  range: { readonly fromMs: number; readonly toMs: number; readonly track?: Track },
  spokenMs: number,
): Promise<Strike[]> {
  const { file, audioDir, live } = session;
  const only = range.track;
  if (!(range.fromMs >= 0 && range.toMs > range.fromMs)) {
    throw new AmbientError('bad_request', 'There is nothing between the two times.', 'Give a start that lies before the end.');
  }
  const tracks = TRACKS.filter((track) => file.tracks[track] !== undefined && (only === undefined || only === track));
  if (tracks.length === 0) throw new AmbientError('bad_request', `The session has no ${only ?? 'audio'} track.`);
  const recorded = await Promise.all(
    tracks.map(async (track) => (file.tracks[track]?.offset_ms ?? 0) + (await audioSamples(audioDir, track)) / SAMPLES_PER_MS),
  );
  const known = Math.max(spokenMs, live ? 0 : (file.duration_s ?? 0) * 1000);
  const strikes = tracks.map((track, i) => {
    const end = Math.max(known, (recorded[i] ?? 0) + (live ? SPOOL_LAG_MS : 0));
    return { track, from_ms: range.fromMs, to_ms: Math.min(range.toMs, end) };
  });
  const real = strikes.filter((strike) => strike.to_ms > strike.from_ms);
  if (real.length === 0) throw behindTheEnd(Math.max(known, ...recorded), live);
  return real;
}

function behindTheEnd(lengthMs: number, live: boolean): AmbientError {
  const so = live ? ' so far' : '';
  return new AmbientError(
    'bad_request',
    `The session is ${positionOf(lengthMs)} long${so}; nothing was struck.`,
    'Give a start that lies in it.',
  );
}

/** `0:29`, or `1:02:03` from an hour on. */
function positionOf(ms: number): string {
  const total = Math.floor(ms / 1000);
  const two = (n: number): string => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** True when the ledger says of the whole stretch already that it was to be struck. */
export function isInLedger(strike: Strike, coverage: readonly CoverageGap[]): boolean {
  return coverage.some(
    (gap) =>
      gap.reason === 'struck' &&
      gap.rest_of_turn !== true &&
      gap.track === strike.track &&
      gap.from_ms <= strike.from_ms &&
      gap.to_ms >= strike.to_ms,
  );
}

/**
 * What of the struck turns no stretch of the ledger holds yet: a turn goes as a whole, so its audio does too, and the ledger says so.
 * What turns that stay have in common with them (their edges overlap) stays.
 * @param turns the lines that go
 */
export function restOfTurns(turns: readonly RawLine[], all: readonly RawLine[], coverage: readonly CoverageGap[]): Strike[] {
  const rest: Strike[] = [];
  for (const { track, start_ms, end_ms } of turns) {
    const kept = all.filter((line) => line.struck !== true && line.track === track && !turns.includes(line));
    const holes = [
      ...[...coverage, ...rest].filter((gap) => gap.track === track && !('reason' in gap && gap.reason !== 'struck')),
      ...kept.map((line) => ({ from_ms: line.start_ms, to_ms: line.end_ms })),
    ];
    let from = start_ms;
    for (const hole of holes.toSorted((a, b) => a.from_ms - b.from_ms)) {
      if (hole.to_ms <= from) continue;
      if (hole.from_ms >= end_ms) break;
      if (hole.from_ms > from) rest.push({ track, from_ms: from, to_ms: hole.from_ms, rest_of_turn: true });
      from = hole.to_ms;
    }
    if (from < end_ms) rest.push({ track, from_ms: from, to_ms: end_ms, rest_of_turn: true });
  }
  return rest;
}

/** True when any of the line's speech lies in the stretch, and that was asked for. */
export function isHit(line: RawLine, strike: Strike): boolean {
  if (line.track !== strike.track || strike.rest_of_turn) return false;
  const end = Math.max(line.end_ms, line.start_ms + 1);
  return line.start_ms < strike.to_ms && end > strike.from_ms;
}

/** True for a line that is published after its speech was struck. */
export function isStruckLate(line: RawLine, coverage: readonly CoverageGap[]): boolean {
  return coverage.some((gap) => {
    if (gap.reason !== 'struck' || gap.track !== line.track || gap.rest_of_turn) return false;
    const overlap = Math.min(line.end_ms, gap.to_ms) - Math.max(line.start_ms, gap.from_ms);
    return overlap > Math.min(EDGE_MS, (line.end_ms - line.start_ms) / 2);
  });
}

/** The line without its words. Keys this build does not know go too: they may repeat them. */
export function withoutSpeech(line: RawLine): RawLine {
  const { track, start_ms, end_ms, confidence, language, samples, model } = line;
  return { track, start_ms, end_ms, text: '', confidence, language, samples, model, struck: true };
}

/** The edit without its words when it is about one of the struck lines (numbered from 1); else the same object. */
export function withoutStruckText(edit: Edit, struck: ReadonlySet<number>): Edit {
  if ((edit.op !== 'correct' && edit.op !== 'comment') || edit.text === '') return edit;
  return edit.segment !== undefined && struck.has(edit.segment) ? { ...edit, text: '' } : edit;
}

/**
 * Silences the audio of a stretch in place.
 * @returns false while the spool does not reach to the stretch's end yet
 */
export async function silence(audioDir: string, file: SessionFile, strike: Pick<Strike, 'track' | 'from_ms' | 'to_ms'>): Promise<boolean> {
  const samples = await audioSamples(audioDir, strike.track);
  if (samples === 0) return false;
  const offset = file.tracks[strike.track]?.offset_ms ?? 0;
  const from = Math.max(0, Math.floor((strike.from_ms - offset) * SAMPLES_PER_MS));
  const to = Math.max(0, Math.ceil((strike.to_ms - offset) * SAMPLES_PER_MS));
  await zeroSamples(trackPath(audioDir, strike.track), from, to);
  return to <= samples;
}
