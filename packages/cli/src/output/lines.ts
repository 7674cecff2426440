import type { Line } from '@ambient/contract';
import type { Paint } from './paint.js';
import type { View } from './printer.js';
import { padStart, plain, textWidth, wrap } from './text.js';
import { clock } from './time.js';

/** Where less than this is left beside its time and track, the text stands beneath them. */
export const LEAST_BESIDE = 12;
const INDENT = '  ';

export interface LineOptions {
  /** What is particular about the line. */
  readonly mark?: string | undefined;
  /** Its number, already padded, to be shown before it. */
  readonly number?: string | undefined;
}

/** `02:03  call  Priya: text`, wrapped beneath itself. */
export function lineText(line: Line, { width, paint }: View, { mark, number }: LineOptions = {}): string {
  const time = `${number === undefined ? '' : `${number}  `}${padStart(clock(line.start_ms), 5)}`;
  const speaker = line.speaker === null ? '' : `${plain(line.speaker)}: `;
  const head = `${time}  ${line.track}  `;
  const text = `${speaker}${plain(line.text)}${mark === undefined ? '' : ` (${mark})`}`;
  if (width - textWidth(head) < LEAST_BESIDE) {
    const [first = '', ...rest] = wrap(text, width - INDENT.length);
    const lines = [paintSpeaker(first, speaker, paint), ...rest].map((part) => INDENT + part);
    return [`${paint('dim', time)}  ${paintTrack(line, paint)}`, ...lines].join('\n');
  }
  const body = wrap(text, width - textWidth(head));
  const first = `${paint('dim', time)}  ${paintTrack(line, paint)}  ${paintSpeaker(body[0] ?? '', speaker, paint)}`;
  return [first, ...body.slice(1).map((rest) => ' '.repeat(textWidth(head)) + rest)].join('\n');
}

function paintTrack({ track }: Line, paint: Paint): string {
  return paint(track === 'room' ? 'green' : 'cyan', track);
}

function paintSpeaker(text: string, speaker: string, paint: Paint): string {
  const label = speaker.trimEnd();
  return label !== '' && text.startsWith(label) ? paint('bold', label) + text.slice(label.length) : text;
}

/** The five fields that readers of a session get. */
export function contractLine({ track, start_ms, end_ms, speaker, text }: Line): Line {
  return { end_ms, speaker, start_ms, text, track };
}
