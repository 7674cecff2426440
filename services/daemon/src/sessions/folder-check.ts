import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import { isPlainSegment, refusedSymlink } from '../platform/files.js';
import { fileStat } from './file-stat.js';

/** Files of a session folder that are read; each must be a file of its own. */
const FILES: ReadonlySet<string> = new Set(['session.json', 'raw.jsonl', 'edits.jsonl', 'assistant.jsonl', 'transcript.md']);

/**
 * Refuses anything but one plain path segment, before the disk is touched.
 * @throws AmbientError `bad_request`
 */
export function checkSegment(id: string): void {
  if (isPlainSegment(id)) return;
  const shown = JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
  throw new AmbientError('bad_request', `not a session id: ${shown}`, 'List the sessions with `ambientctl sessions`.');
}

/**
 * Makes sure that `dir/id` is a real folder and holds no link where a file of ours belongs.
 * @returns the folder's path
 * @throws AmbientError `not_found`, `refused_symlink`; `unavailable` for something else than a file in a file's place
 */
export async function checkFolder(dir: string, id: string): Promise<string> {
  const folder = await findFolder(dir, id);
  for (const entry of await entries(folder)) {
    const ours = FILES.has(entry.name) || entry.name === 'audio';
    if (ours && entry.isSymbolicLink()) throw refusedSymlink(entry.name);
    if (FILES.has(entry.name) && !entry.isFile()) throw new AmbientError('unavailable', `${entry.name} is not a file`);
  }
  for (const entry of await entries(path.join(folder, 'audio'))) if (entry.isSymbolicLink()) throw refusedSymlink(entry.name);
  return folder;
}

/**
 * The path of a session's folder, whatever is in it.
 * @throws AmbientError `not_found`; `refused_symlink` when it is a link
 */
export async function findFolder(dir: string, id: string): Promise<string> {
  checkSegment(id);
  const folder = path.join(dir, id);
  const stat = await fileStat(folder);
  if (stat?.isSymbolicLink()) throw refusedSymlink(id);
  if (!stat?.isDirectory()) throw new AmbientError('not_found', `no session ${id}`, 'List the sessions with `ambientctl sessions`.');
  return folder;
}

/** True when any part of a session is in the folder, so that one whose `session.json` was lost is still shown. */
export async function holdsSession(folder: string): Promise<boolean> {
  for (const name of ['session.json', 'raw.jsonl', 'audio']) if (await fileStat(path.join(folder, name))) return true;
  return false;
}

async function entries(dir: string): Promise<Dirent[]> {
  return readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
