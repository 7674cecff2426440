import { type Edit, type Line, type RawLine, Track, type VerboseLine } from '@ambient/contract';
import { suppressBleed } from './bleed.js';

/** A raw line with the edits that apply to it. */
export interface FoldedLine {
  /** Line number from 1. */
  readonly segment: number;
  readonly raw: RawLine;
  readonly speaker: string | null;
  /** Corrected text; empty when struck. */
  readonly text: string;
  readonly comments: readonly string[];
  /** The call heard through the room's loudspeakers. */
  readonly bleed: boolean;
  readonly struck: boolean;
  /** The log's line could not be read. */
  readonly unreadable: boolean;
}

export interface Folded {
  readonly lines: readonly FoldedLine[];
  /** Comments on the session as a whole. */
  readonly comments: readonly string[];
  /** Distinct names in order of first appearance. */
  readonly speakers: readonly string[];
}

/** Stands where the log has a line that cannot be read, so that the numbers of the others hold. */
export function unreadableLine(before: RawLine | undefined): RawLine {
  const at = before?.end_ms ?? 0;
  const sample = before?.samples[1] ?? 0;
  return {
    track: before?.track ?? Track.enum.room,
    start_ms: at,
    end_ms: at,
    text: '',
    confidence: null,
    language: null,
    samples: [sample, sample],
    model: '',
    unreadable: true,
  };
}

/** Applies edits to raw lines, in order; a reverted edit counts as never made, a reverted revert too. */
export function fold(raw: readonly RawLine[], edits: readonly Edit[]): Folded {
  const active = activeEdits(edits);
  const bleed = suppressBleed(raw);
  const speakers: (string | null)[] = raw.map(() => null);
  const texts = raw.map((line) => line.text);
  const comments: string[][] = raw.map(() => []);
  const general: string[] = [];
  for (const edit of active) {
    if (edit.op === 'name') for (const i of namedLines(edit, raw)) speakers[i] = edit.speaker;
    else if (edit.op === 'correct') texts[edit.segment - 1] = edit.text;
    else if (edit.op === 'comment' && edit.text !== '')
      (edit.segment === undefined ? general : comments[edit.segment - 1])?.push(edit.text);
  }
  const lines = raw.map((line, i) => ({
    segment: i + 1,
    raw: line,
    speaker: speakers[i] ?? null,
    text: line.struck === true ? '' : (texts[i] ?? ''),
    comments: comments[i] ?? [],
    bleed: bleed[i] ?? false,
    struck: line.struck === true,
    unreadable: line.unreadable === true,
  }));
  const named = lines.map((line) => line.speaker).filter((name) => name !== null);
  return { lines, comments: general, speakers: [...new Set(named)] };
}

/** Edits that count: neither reverts nor reverted. */
export function activeEdits(edits: readonly Edit[]): readonly Edit[] {
  const reverted = new Set<string>();
  for (const edit of edits.toReversed()) if (edit.op === 'revert' && !reverted.has(edit.id)) reverted.add(edit.edit);
  return edits.filter((edit) => edit.op !== 'revert' && !reverted.has(edit.id));
}

/** Indices from 0 of the lines that a naming is about: its segments, else its whole track. */
export function namedLines(edit: { track?: Track | undefined; segments?: number[] | undefined }, raw: readonly RawLine[]): number[] {
  const { track, segments } = edit;
  if (segments) return segments.map((segment) => segment - 1).filter((i) => i < raw.length);
  return raw.flatMap((line, i) => (line.track === track ? [i] : []));
}

/** The line as the sessions contract has it; as it was heard when verbatim. */
export function toLine(line: FoldedLine, verbatim: boolean): Line {
  const { track, start_ms, end_ms, text } = line.raw;
  return { track, start_ms, end_ms, speaker: verbatim ? null : line.speaker, text: verbatim ? text : line.text };
}

export function toVerboseLine(line: FoldedLine, verbatim: boolean): VerboseLine {
  const { segment, bleed, struck, unreadable, comments } = line;
  return {
    segment,
    ...toLine(line, verbatim),
    confidence: line.raw.confidence,
    bleed,
    struck,
    ...(unreadable ? { unreadable } : {}),
    ...(comments.length > 0 && !verbatim ? { comments } : {}),
  };
}
