import { AmbientError } from '@ambient/contract';
import { checkSegment } from './folder-check.js';
import type { SessionStore } from './types.js';

/** Candidates that an error names. */
const SHOWN = 5;
const HINT = 'List the sessions with `ambientctl sessions`.';

/**
 * The id that an argument means: `last`, `live`, an id, the unique beginning of one, or a session's exact name.
 * @throws AmbientError `bad_request`, `not_found`, `ambiguous` (naming the candidates)
 */
export async function resolveSession(store: Pick<SessionStore, 'ids' | 'list'>, arg: string): Promise<string> {
  checkSegment(arg);
  if (arg === 'last') return lastSession(store);
  if (arg === 'live') {
    const live = (await store.list()).find((row) => row.live);
    if (live) return live.id;
    throw new AmbientError('not_found', 'nothing is being recorded', 'Start a recording with `ambientctl start`.');
  }
  const ids = await store.ids();
  if (ids.includes(arg)) return arg;
  const begun = ids.filter((id) => id.startsWith(arg));
  if (begun.length > 0) return only(arg, begun, 'begin with');
  const name = arg.normalize();
  const named = (await store.list()).filter((row) => row.name?.normalize() === name).map((row) => row.id);
  return only(arg, named, 'are called');
}

async function lastSession(store: Pick<SessionStore, 'list'>): Promise<string> {
  const rows = await store.list();
  const last = rows.find((row) => row.state !== 'broken') ?? rows[0];
  if (last) return last.id;
  throw new AmbientError('not_found', 'there are no sessions yet', 'Record one with `ambientctl start`, or import a file.');
}

function only(arg: string, ids: readonly string[], verb: string): string {
  const [id] = ids;
  if (id === undefined) throw new AmbientError('not_found', `no session ${arg}`, HINT);
  if (ids.length === 1) return id;
  const more = ids.length > SHOWN ? `, and ${ids.length - SHOWN} more` : '';
  throw new AmbientError(
    'ambiguous',
    `${ids.length} sessions ${verb} "${arg}": ${ids.slice(0, SHOWN).join(', ')}${more}`,
    'Give one of the ids in full.',
  );
}
