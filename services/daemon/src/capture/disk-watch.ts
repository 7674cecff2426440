import { statfs } from 'node:fs/promises';

const MIB = 1024 * 1024;

/** Free space of the file system that holds `dir`, MiB, as far as this user may use it. */
export async function freeMiB(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return (bavail * bsize) / MIB;
}

/** True for the errors that mean that nothing more fits. */
export function isDiskFull(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOSPC' || error.code === 'EDQUOT';
}
