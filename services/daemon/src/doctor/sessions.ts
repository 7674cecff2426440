import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Check, type Config, check, type SessionSummary } from '@ambient/contract';
import { DAMAGE_CODES } from '../sessions/damage.js';
import type { SessionStore } from '../sessions/types.js';

interface SessionDeps {
  readonly store: SessionStore;
  /** Someone works on the text of the session. */
  readonly working: (id: string) => boolean;
  /** Sessions whose audio outlived its time because their transcript is not complete. */
  readonly kept: () => readonly string[];
  readonly retentionDays: () => Config['audio_retention_days'];
}

const TITLE = 'Sessions';
/** A deletion that has moved nothing for this long has ended half way, ms. */
const TRASH_MS = 10_000;
const RESTART = 'Run `ambientctl daemon restart`: the next start takes them up.';

/** Sessions that cannot be read, that wait for what never comes, or that keep more than they should. */
export async function sessionChecks(deps: SessionDeps): Promise<Check[]> {
  const rows = await deps.store.list();
  return [
    readable(rows),
    ...(await damaged(deps.store, rows)),
    unfinished(rows, deps),
    ...interrupted(rows),
    retention(deps),
    ...strays(deps.store.dir, await deps.store.strays()),
    ...(await halfDeleted(deps.store)),
  ];
}

function readable(rows: readonly SessionSummary[]): Check {
  const broken = rows.filter((row) => row.state === 'broken');
  const [first] = broken;
  if (first === undefined) return check.ok('sessions', TITLE, `${count(rows.length, 'session')}, all readable.`);
  const detail = `${broken.length} of ${rows.length} cannot be read: ${shortly(broken.map((row) => `${row.id} (${row.error ?? 'unknown'})`))}.`;
  const fix = `Look into ${first.dir} and restore the file from a backup, or \`ambientctl delete ${first.id}\`; its other files are untouched.`;
  return check.failure('sessions', TITLE, detail, fix);
}

/** Sessions that can be used but for some lines. Each is looked at now: what was damaged a moment ago is not in the list yet. */
async function damaged(store: SessionStore, rows: readonly SessionSummary[]): Promise<Check[]> {
  const codes: readonly string[] = Object.values(DAMAGE_CODES);
  const found: string[] = [];
  let dir: string | undefined;
  for (const { id } of rows) {
    const row = await store.summary(id).catch(() => undefined);
    if (row === undefined || row.warning_count === 0) continue;
    const { warnings } = (await store.get(id)).file;
    for (const { code, message } of warnings) if (codes.includes(code)) found.push(`${id}: ${message.replace(/\.$/, '')}`);
    if (found.length > 0) dir ??= row.dir;
  }
  if (dir === undefined) return [];
  const fix = `Restore that file of ${dir} from a backup, if there is one. The other lines are not affected; the damaged ones are kept as they are.`;
  return [check.warning('sessions.damaged', 'Damaged lines', `${shortly(found)}.`, fix)];
}

function unfinished(rows: readonly SessionSummary[], { working }: SessionDeps): Check {
  const [id, title] = ['sessions.unfinished', 'Transcripts'];
  const open = rows.filter((row) => row.state === 'pending' || row.state === 'transcribing');
  const left = open.filter((row) => !working(row.id));
  if (left.length > 0) return check.failure(id, title, `Nobody works on the text of ${shortly(left.map((row) => row.id))}.`, RESTART);
  return check.ok(id, title, open.length === 0 ? 'All complete.' : `${count(open.length, 'transcript')} being made.`);
}

function interrupted(rows: readonly SessionSummary[]): Check[] {
  const cut = rows.filter((row) => row.state === 'interrupted');
  if (cut.length === 0) return [];
  const detail = `Cut by a crash, then finished: ${shortly(cut.map((row) => row.id))}. \`ambientctl show ID --coverage\` tells what was missed.`;
  return [check.ok('sessions.interrupted', 'Interrupted sessions', detail)];
}

function retention({ kept, retentionDays }: SessionDeps): Check {
  const [id, title] = ['retention', 'Kept audio'];
  const overdue = kept();
  const days = retentionDays();
  if (overdue.length > 0)
    return check.warning(id, title, `Past its time and kept, because its text is not complete: the audio of ${shortly(overdue)}.`, RESTART);
  if (days === 'forever') return check.ok(id, title, 'Kept forever.');
  return check.ok(
    id,
    title,
    days === 0 ? 'Deleted when its text is complete.' : `Deleted ${count(days, 'day')} after its text is complete.`,
  );
}

function strays(dir: string, names: readonly string[]): Check[] {
  if (names.length === 0) return [];
  const detail = `${names.length === 1 ? '1 folder is' : `${names.length} folders are`} no session: ${shortly(names)}.`;
  return [check.warning('sessions.strays', 'Other folders', detail, `Move what is not a session out of ${dir}.`)];
}

async function halfDeleted({ dir }: SessionStore): Promise<Check[]> {
  const found: string[] = [];
  for (const name of await readdir(dir).catch((): string[] => [])) {
    if (!name.startsWith('.trash-')) continue;
    const info = await stat(path.join(dir, name)).catch(() => undefined);
    if (info !== undefined && Date.now() - info.mtimeMs > TRASH_MS) found.push(path.join(dir, name));
  }
  if (found.length === 0) return [];
  const detail = `${count(found.length, 'deletion')} did not come to an end: ${shortly(found)}.`;
  return [
    check.warning('sessions.trash', 'Deleted sessions', detail, 'Run `ambientctl daemon restart`: the next start removes what is left.'),
  ];
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function shortly(words: readonly string[]): string {
  return words.length <= 5 ? words.join(', ') : `${words.slice(0, 5).join(', ')} and ${words.length - 5} more`;
}
