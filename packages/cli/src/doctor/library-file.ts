import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { check } from '@ambient/contract';
import type { LocalCheck } from './types.js';

const ID = 'library';
const TITLE = 'Library';
const MAGIC = 'SQLite format 3\0';

/** What can be seen of the index without opening it. */
export const checkLibraryFile: LocalCheck = async ({ paths }) => {
  const copies = (await readdir(paths.home).catch(() => [])).filter((name) => name.startsWith('library.db.corrupt-'));
  if (copies.length > 0) {
    const kept = copies.map((name) => path.join(paths.home, name)).join(', ');
    const detail = `The library was damaged and made anew; kept from before: ${kept}.`;
    return [
      check.warning(
        'library.copies',
        'Damaged libraries',
        detail,
        'Check the disk if this happens again, and delete what you do not need.',
      ),
    ];
  }
  const start = await firstBytes(paths.library, MAGIC.length).catch(() => undefined);
  if (start === undefined || start === '' || start === MAGIC) return [check.ok(ID, TITLE, 'Looked into when the daemon runs.')];
  return [
    check.failure(
      ID,
      TITLE,
      `${paths.library} is no SQLite file.`,
      'Run `ambientctl daemon start`: it sets the file aside and makes the library anew from the sessions.',
    ),
  ];
};

async function firstBytes(file: string, length: number): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
