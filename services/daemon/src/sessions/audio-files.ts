import { readdir, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { TRACKS, type Track } from '@ambient/contract';
import { refusedSymlink } from '../platform/files.js';
import { fileStat } from './file-stat.js';
import { samplesIn } from './wav.js';

/** The WAV file of a track. */
export function trackPath(audioDir: string, track: Track): string {
  return path.join(audioDir, `${track}.wav`);
}

/**
 * Samples that the track's file holds now, by its size; 0 when it is not there.
 * @throws AmbientError `refused_symlink`
 */
export async function audioSamples(audioDir: string, track: Track): Promise<number> {
  return samplesIn(await fileSize(trackPath(audioDir, track)));
}

/** True when any track has a sample. */
export async function hasAudio(audioDir: string): Promise<boolean> {
  for (const track of TRACKS) if ((await audioSamples(audioDir, track)) > 0) return true;
  return false;
}

/**
 * Deletes every file in the audio folder, and the folder.
 * @returns bytes freed
 * @throws AmbientError `refused_symlink`
 */
export async function deleteAudio(audioDir: string): Promise<number> {
  const names = await readdir(audioDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let bytes = 0;
  for (const name of names) {
    const file = path.join(audioDir, name);
    bytes += await fileSize(file);
    await unlink(file);
  }
  await rmdir(audioDir).catch(() => {});
  return bytes;
}

async function fileSize(file: string): Promise<number> {
  const stat = await fileStat(file);
  if (stat?.isSymbolicLink()) throw refusedSymlink(file);
  return Number(stat?.size ?? 0);
}
