import { activeEdits } from '../sessions/fold.js';
import type { Session } from '../sessions/types.js';
import { foldText } from '../sessions/words.js';
import { type EntryTable, entryId, linePlace, MAX_FIELDS } from './schema.js';

export type Entry = Omit<EntryTable, 'id'>;

/** Everything of a session that can be found, by place: its own fields first, then its lines. Bleed and struck lines are left out. */
export async function sessionEntries(session: Session): Promise<Map<number, Entry>> {
  const { id, name, tags, notes } = session.file;
  const lines = await session.verboseLines();
  const comments = activeEdits(await session.edits()).filter((edit) => edit.op === 'comment');
  const speakers = new Set(lines.flatMap((line) => line.speaker ?? []));
  const fields = [
    entry('id', id),
    entry('title', name ?? ''),
    ...tags.map((tag) => entry('tag', tag)),
    entry('notes', notes),
    ...[...speakers].map((speaker) => entry('speaker', speaker)),
    ...comments.map(({ text, segment }) => {
      const line = segment === undefined ? undefined : lines[segment - 1];
      return { ...entry('comment', text), segment: segment ?? 0, track: line?.track ?? null, start_ms: line?.start_ms ?? null };
    }),
  ];
  const entries = new Map<number, Entry>();
  for (const [i, field] of fields.slice(0, MAX_FIELDS).entries()) if (field.text !== '') entries.set(i, field);
  for (const { segment, track, start_ms, speaker, text, bleed } of lines) {
    if (text === '' || bleed) continue;
    const speaker_key = speaker === null ? null : speakerKey(speaker);
    entries.set(linePlace(segment), { field: 'text', segment, track, speaker, speaker_key, start_ms, text });
  }
  return entries;
}

/** Names that look alike are one speaker. */
export function speakerKey(name: string): string {
  return foldText(name.trim());
}

function entry(field: Entry['field'], text: string): Entry {
  return { field, segment: 0, track: null, speaker: null, speaker_key: null, start_ms: null, text };
}

export interface EntryChanges {
  /** Ids whose entry is gone or different. */
  readonly removed: readonly number[];
  /** Entries that are new or different. */
  readonly added: readonly EntryTable[];
}

/** What makes the entries on file equal to the wanted ones. */
export function compareEntries(no: number, present: readonly EntryTable[], wanted: ReadonlyMap<number, Entry>): EntryChanges {
  const open = new Map([...wanted].map(([place, value]) => [entryId(no, place), value]));
  const removed: number[] = [];
  for (const { id, ...old } of present) {
    const value = open.get(id);
    if (value && isEqual(old, value)) open.delete(id);
    else removed.push(id);
  }
  return { removed, added: [...open].map(([id, value]) => ({ id, ...value })) };
}

function isEqual(a: Entry, b: Entry): boolean {
  return (
    a.text === b.text &&
    a.speaker === b.speaker &&
    a.start_ms === b.start_ms &&
    a.track === b.track &&
    a.segment === b.segment &&
    a.field === b.field &&
    a.speaker_key === b.speaker_key
  );
}
