import { AmbientError, type Edit, type RawLine, type SessionFile, TRACKS, type Track } from '@ambient/contract';
import type { NewEdit } from './types.js';

/**
 * Refuses an edit that would have no meaning.
 * @throws AmbientError `bad_request` for a line or a track that is not there, `conflict` for a struck line, `not_found` for an unknown edit
 */
export function checkEdit(edit: NewEdit, raw: readonly RawLine[], edits: readonly Edit[], tracks: SessionFile['tracks']): void {
  if (edit.op === 'revert') {
    if (edits.some((known) => known.id === edit.edit)) return;
    throw new AmbientError('not_found', `There is no edit ${edit.edit} to revert.`, 'Look up its id in edits.jsonl.');
  }
  if (edit.op === 'name') {
    if (edit.track === undefined && (edit.segments === undefined || edit.segments.length === 0)) {
      throw new AmbientError('bad_request', 'A name needs a track or lines to stand for.', 'Give a track (room or call) or line numbers.');
    }
    // A session that came from elsewhere may have lines of a track that its file does not list.
    const isThere = (track: Track): boolean => tracks[track] !== undefined || raw.some((line) => line.track === track);
    if (edit.track !== undefined && !isThere(edit.track)) {
      const there = TRACKS.filter(isThere).join(' and ');
      throw new AmbientError(
        'bad_request',
        `The session has no track ${edit.track}; it has ${there === '' ? 'none' : there}.`,
        'Name one that it has.',
      );
    }
    for (const segment of edit.segments ?? []) checkSegment(segment, raw);
    return;
  }
  if (edit.segment === undefined) return;
  const line = checkSegment(edit.segment, raw);
  if (line.struck) throw new AmbientError('conflict', `Line ${edit.segment} was struck; nothing can be written to it.`);
}

function checkSegment(segment: number, raw: readonly RawLine[]): RawLine {
  const line = raw[segment - 1];
  if (line) return line;
  throw new AmbientError('bad_request', `There is no line ${segment}; the session has ${raw.length}.`, 'Lines are numbered from 1.');
}
