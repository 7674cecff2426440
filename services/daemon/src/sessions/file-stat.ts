import { type BigIntStats, lstat } from 'node:fs';

/**
 * Stat of a path, of the link itself where it is one; undefined when there is nothing. By callback, since a store of thousands
 * of sessions asks for many files that do not exist, and an error with a promise's stack costs ten times the call.
 */
export function fileStat(file: string): Promise<BigIntStats | undefined> {
  return new Promise((resolve, reject) => {
    lstat(file, { bigint: true }, (error, stat) => {
      if (error === null) resolve(stat);
      else if (error.code === 'ENOENT' || error.code === 'ENOTDIR') resolve(undefined);
      else reject(error);
    });
  });
}

/** The fingerprint of a file that is not there. */
export const NO_FILE = '-';

/** Differs whenever the file was written, replaced or removed, by us or by anyone. */
export async function fingerprint(file: string): Promise<string> {
  return printOf(await fileStat(file));
}

/** The same from a stat taken before. */
export function printOf(stat: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'> | undefined): string {
  return stat ? `${stat.ino}.${stat.size}.${stat.mtimeNs}` : NO_FILE;
}
