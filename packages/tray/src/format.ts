import type { Level } from '@ambient/contract';

/** A length of time as a clock shows it: `2:05`, `1:02:05`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number): string => String(n).padStart(2, '0');
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const CELLS = 8;
/** Quiet rooms lie below the first cell, a voice at the microphone in the middle, clipping fills the last. dBFS. */
const [FLOOR_DB, CEILING_DB] = [-60, 0];

/** A level as a bar and a figure: `▮▮▮▮▯▯▯▯ −28 dB`. */
export function meter(level: Level): string {
  if (level.muted) return 'muted';
  const share = (level.rms_db - FLOOR_DB) / (CEILING_DB - FLOOR_DB);
  const full = Math.min(CELLS, Math.max(0, Math.round(share * CELLS)));
  const figure = level.rms_db <= -100 ? 'silent' : `${level.rms_db < 0 ? '−' : ''}${Math.abs(Math.round(level.rms_db))} dB`;
  return `${'▮'.repeat(full)}${'▯'.repeat(CELLS - full)} ${figure}`;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Text from elsewhere as one line of a menu: without controls, and cut to `max` characters. */
export function oneLine(text: string, max = 70): string {
  const flat = text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
  const parts = [...graphemes.segment(flat)].map(({ segment }) => segment);
  return parts.length <= max ? flat : `${parts.slice(0, max - 1).join('')}…`;
}

/** Local day and time of an ISO date: `30 Nov 16:08`. */
export function when(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const month = date.toLocaleString('en', { month: 'short' });
  return `${date.getDate()} ${month} ${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
}
