import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Check, check, SessionFile } from '@ambient/contract';
import type { LocalCheck } from './types.js';

const TITLE = 'Sessions';
/** How a session's id begins: its day and minute. */
const ID = /^\d{4}-\d{2}-\d{2}T\d{4}(-|$)/;

/** The session folders, read from outside. */
export const checkSessionFolders: LocalCheck = async ({ paths }) => {
  const entries = await readdir(paths.sessions, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  const states = new Map<string, SessionFile['state'] | undefined>();
  const strays: string[] = [];
  for (const name of folders) {
    if (ID.test(name) || (await holdsSession(path.join(paths.sessions, name)))) states.set(name, undefined);
    else strays.push(name);
  }
  for (const id of states.keys()) states.set(id, await stateOf(path.join(paths.sessions, id)));
  const trash = entries.filter(({ name }) => name.startsWith('.trash-')).length;
  const apart = strays.length > 0 ? [stray(paths.sessions, strays)] : [];
  return [readable(paths.sessions, states), unfinished(states), ...apart, ...(trash > 0 ? [halfDeleted(trash)] : [])];
};

function readable(dir: string, states: ReadonlyMap<string, SessionFile['state'] | undefined>): Check {
  const broken = [...states].flatMap(([id, state]) => (state === undefined ? [id] : []));
  const [first] = broken;
  if (first === undefined) return check.ok('sessions', TITLE, `${states.size}, all readable.`);
  const fix = `Look into ${path.join(dir, first)} and restore session.json from a backup.`;
  return check.failure('sessions', TITLE, `${broken.length} of ${states.size} cannot be read: ${broken.slice(0, 5).join(', ')}.`, fix);
}

function unfinished(states: ReadonlyMap<string, SessionFile['state'] | undefined>): Check {
  const [id, title] = ['sessions.unfinished', 'Transcripts'];
  const open = [...states].flatMap(([session, state]) =>
    state === 'live' || state === 'pending' || state === 'transcribing' ? [session] : [],
  );
  if (open.length === 0) return check.ok(id, title, 'All complete.');
  const detail = `Not complete: ${open.slice(0, 5).join(', ')}${open.length > 5 ? ` and ${open.length - 5} more` : ''}.`;
  return check.warning(id, title, detail, 'Run `ambientctl daemon start`: the daemon finishes what was interrupted.');
}

function stray(dir: string, names: readonly string[]): Check {
  const shown = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  const detail = `${names.length === 1 ? '1 folder is' : `${names.length} folders are`} no session: ${shown}.`;
  return check.warning('sessions.strays', 'Other folders', detail, `Move what is not a session out of ${dir}.`);
}

async function holdsSession(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return ['session.json', 'raw.jsonl', 'audio'].some((name) => names.includes(name));
}

function halfDeleted(count: number): Check {
  const detail = `${count} ${count === 1 ? 'deletion' : 'deletions'} did not come to an end.`;
  return check.warning('sessions.trash', 'Deleted sessions', detail, 'Run `ambientctl daemon start`: it removes what is left.');
}

/** Undefined for a folder that cannot be read. */
async function stateOf(dir: string): Promise<SessionFile['state'] | undefined> {
  try {
    const parsed = SessionFile.safeParse(JSON.parse(await readFile(path.join(dir, 'session.json'), 'utf8')));
    return parsed.success ? parsed.data.state : undefined;
  } catch {
    return undefined;
  }
}
