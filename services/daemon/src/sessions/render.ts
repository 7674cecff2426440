import path from 'node:path';
import type { CoverageGap, SessionFile, Track, TrackInfo, Warning } from '@ambient/contract';
import type { Folded, FoldedLine } from './fold.js';

const REASONS: Readonly<Record<CoverageGap['reason'], string>> = {
  device_lost: 'the device was gone',
  recorder_died: 'the recorder died',
  recorder_stalled: 'the recorder stalled',
  too_fast: 'the device kept no time',
  sleep: 'the machine slept',
  disk_full: 'the disk was full',
  daemon_died: 'the daemon was killed',
  paused: 'paused',
  muted: 'muted',
  struck: 'struck',
  not_started: 'not started yet',
};
const SOURCES: Readonly<Record<TrackInfo['source'], string>> = { mic: 'microphone', system: 'system audio', file: 'file' };

/** What readers are shown: neither bleed nor struck nor empty lines, by time. */
export function readableLines(folded: Folded): FoldedLine[] {
  return folded.lines
    .filter((line) => !line.bleed && line.text !== '')
    .toSorted((a, b) => a.raw.start_ms - b.raw.start_ms || a.segment - b.segment);
}

/** The transcript as Markdown: a header that says what was recorded and what was missed, then lines by time. */
export function renderMarkdown(file: SessionFile, folded: Folded): string {
  const body = readableLines(folded).map((line) => {
    const comments = line.comments.map((text) => `  > ${escapeMarkdown(text)}`);
    const text = `**[${clock(line.raw.start_ms)}] ${who(line, escapeMarkdown)}:** ${escapeMarkdown(line.text)}`;
    return [`${text}`, ...comments].join('\n');
  });
  const header = facts(file, folded).map(([label, value]) => `- ${label}: ${escapeMarkdown(value)}`);
  const missed = missedLines(file, folded).map((text) => `> ${escapeMarkdown(text)}`);
  const blocks = [`# ${escapeMarkdown(title(file))}`, header.join('\n'), missed.join('\n>\n'), ...body];
  if (body.length === 0) blocks.push('No speech was recognised.');
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** The same as plain text. */
export function renderText(file: SessionFile, folded: Folded): string {
  const header = [title(file), ...facts(file, folded).map(([label, value]) => `${label}: ${oneLine(value)}`)];
  const missed = missedLines(file, folded);
  const body = readableLines(folded).flatMap((line) => [
    `[${clock(line.raw.start_ms)}] ${who(line, oneLine)}: ${oneLine(line.text)}`,
    ...line.comments.map((text) => `    (${oneLine(text)})`),
  ]);
  if (body.length === 0) body.push('No speech was recognised.');
  return `${[header, missed, body].flatMap((block) => (block.length > 0 ? [block.join('\n')] : [])).join('\n\n')}\n`;
}

/** Everything a program may want: the session's metadata and every line with its marks. */
export function renderJson(file: SessionFile, folded: Folded): string {
  const lines = folded.lines.map(({ segment, raw, speaker, text, comments, bleed, struck, unreadable }) => ({
    segment,
    track: raw.track,
    start_ms: raw.start_ms,
    end_ms: raw.end_ms,
    speaker,
    text,
    confidence: raw.confidence,
    language: raw.language,
    bleed,
    struck,
    ...(unreadable ? { unreadable } : {}),
    comments,
  }));
  return `${JSON.stringify({ session: file, speakers: folded.speakers, comments: folded.comments, lines }, null, 2)}\n`;
}

function title(file: SessionFile): string {
  return oneLine(file.name ?? file.id);
}

/** Label and value of each line of the header. */
function facts(file: SessionFile, folded: Folded): [string, string][] {
  const tracks = Object.entries(file.tracks).map(([track, info]) => {
    // Where a file lies on this machine is nobody's business who reads the transcript.
    const device = info.source === 'file' && info.device !== null ? path.basename(info.device) : info.device;
    const from = [SOURCES[info.source], device, info.recorder].filter((part) => part !== null && part !== '');
    return `${track} (${from.join(', ')})`;
  });
  const rows: [string, string | null][] = [
    ['Session', file.name === null ? null : file.id],
    ['Recorded', when(file)],
    ['Length', file.duration_s === null ? null : lengthInWords(file.duration_s)],
    ['Tracks', tracks.join('; ')],
    ['Imported from', file.source_file === null ? null : path.basename(file.source_file)],
    ['Model', file.model],
    ['Speakers', folded.speakers.join(', ')],
    ['Tags', file.tags.join(', ')],
    ['Notes', file.notes],
    ...folded.comments.map((text): [string, string] => ['Comment', text]),
  ];
  return rows.flatMap(([label, value]) => (value ? [[label, value]] : []));
}

/** Warnings, unheard stretches and lines left out, each as a sentence. */
export function missedLines(file: SessionFile, folded: Folded): string[] {
  const count = (test: (line: FoldedLine) => boolean) => folded.lines.filter(test).length;
  return [
    ...file.warnings.map(warningInWords),
    ...file.coverage.map(gapInWords),
    ...leftOut(
      count((line) => line.bleed),
      'left out: the call heard through the loudspeakers',
    ),
    ...leftOut(
      count((line) => line.struck),
      'struck by the user',
    ),
  ];
}

function leftOut(lines: number, why: string): string[] {
  return lines === 0 ? [] : [`${lines} ${lines === 1 ? 'line' : 'lines'} ${why}.`];
}

function warningInWords(warning: Warning): string {
  const { track, from_ms, to_ms } = warning;
  const range = from_ms === undefined ? undefined : `${clock(from_ms)}${to_ms === undefined ? '' : `–${clock(to_ms)}`}`;
  const where = [track, range].filter((part) => part !== undefined).join(' ');
  return oneLine(`Warning${where === '' ? '' : ` (${where})`}: ${warning.message}${warning.hint ? ` ${warning.hint}` : ''}`);
}

function gapInWords(gap: CoverageGap): string {
  return `Not heard: ${gap.track} ${clock(gap.from_ms)}–${clock(gap.to_ms)}, ${REASONS[gap.reason]}${gap.rest_of_turn === true ? ', as the rest of its turn' : ''}.`;
}

function who(line: FoldedLine, clean: (text: string) => string): string {
  const track: Track = line.raw.track;
  return line.speaker === null ? track : `${clean(line.speaker)} (${track})`;
}

/** `16:08:03` style position on the session's clock. */
export function clock(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
}

/** `2026-11-30 16:08 to 16:38 (+01:00)`, in the local time it was recorded in. */
function when(file: SessionFile): string {
  const day = (iso: string) => iso.slice(0, 10);
  const minute = (iso: string) => iso.slice(11, 16);
  const start = `${day(file.started_at)} ${minute(file.started_at)}`;
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.exec(file.started_at)?.[0] ?? '';
  const end = file.ended_at;
  const until = end === null ? '' : ` to ${day(end) === day(file.started_at) ? '' : `${day(end)} `}${minute(end)}`;
  return `${start}${until}${zone === '' ? '' : ` (${zone === 'Z' ? 'UTC' : zone})`}`;
}

function lengthInWords(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const shown = parts.filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`);
  return shown.length > 0 ? shown.join(' ') : `${seconds.toFixed(1)} s`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function escapeMarkdown(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>]/g, '\\$&');
}
