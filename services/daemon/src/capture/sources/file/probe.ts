import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError, SAMPLE_RATE } from '@ambient/contract';
import { z } from 'zod';
import { findProgram, output } from '../../programs.js';
import { FORMAT_BYTES } from './pcm.js';
import { readWavLayout, type WavLayout } from './wav-reader.js';

/** An audio file that can be decoded, and how. */
export interface FileProbe {
  readonly path: string;
  readonly channels: number;
  /** Declared length in seconds; null when the file does not tell. */
  readonly durationS: number | null;
  /** Set when the samples can be read without any other program. */
  readonly wav: WavLayout | null;
  /** Absolute path of ffmpeg; null when it is not needed. */
  readonly ffmpeg: string | null;
  /** What the header of a WAV file promises beyond what is there, seconds; ffmpeg says nothing of that. */
  readonly missingS: number;
}

/** Files are read by ffmpeg only from the disk: a playlist must not make it fetch anything. */
export const LOCAL_ONLY = ['-protocol_whitelist', 'file,pipe,crypto,data'] as const;
const PROBE_TIMEOUT_MS = 30_000;

/** Files without a header are taken for what every recorder here writes: s16le, 16 kHz, mono. */
const HEADERLESS = /\.(?:raw|pcm)$/i;

const Probed = z.object({
  streams: z.array(z.object({ channels: z.number().int().positive().optional() })).default([]),
  format: z.object({ duration: z.coerce.number().optional().catch(undefined) }).default({}),
});

/**
 * Looks into a file before it is used.
 * @throws AmbientError `not_found`, `bad_audio`, `missing_tool`; the message names the file
 */
export async function probeFile(file: string): Promise<FileProbe> {
  const wav = await inspect(file);
  if (wav !== null && wav.dataBytes === 0) throw badAudio(file, 'has no audio in it');
  const missingS = wav?.missingS ?? 0;
  const probe = { path: file, channels: wav?.channels ?? 1, durationS: wav === null ? null : wavSeconds(wav), missingS };
  if (wav !== null && wav.sampleRate === SAMPLE_RATE) return { ...probe, wav, ffmpeg: null };
  const ffmpeg = await findProgram('ffmpeg');
  const ffprobe = await findProgram('ffprobe');
  if (ffmpeg === null || ffprobe === null) throw noFfmpeg(file);
  return { ...(await probeByFfmpeg(file, ffmpeg, ffprobe)), missingS };
}

function headerless(bytes: number): WavLayout {
  return { format: 's16', channels: 1, sampleRate: SAMPLE_RATE, dataStart: 0, dataBytes: bytes - (bytes % 2), missingS: 0 };
}

function wavSeconds(wav: WavLayout): number {
  return wav.dataBytes / (FORMAT_BYTES[wav.format] * wav.channels * wav.sampleRate);
}

/** @returns the layout of a plain WAV file, null for any other */
async function inspect(file: string): Promise<WavLayout | null> {
  let handle: FileHandle | undefined;
  try {
    // Before opening: a pipe would wait for its writer.
    const info = await stat(file);
    if (info.isDirectory()) throw badAudio(file, 'is a folder');
    if (!info.isFile()) throw badAudio(file, 'is not a regular file');
    if (info.size === 0) throw badAudio(file, 'is empty');
    if (HEADERLESS.test(file)) return headerless(info.size);
    handle = await open(file, 'r');
    return await readWavLayout(handle);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new AmbientError('not_found', `There is no file ${file}.`, 'Check the path.', { cause: error });
    if (code === 'EACCES' || code === 'EPERM')
      throw new AmbientError('bad_audio', `${path.basename(file)} may not be read.`, `chmod u+r ${file}`, { cause: error });
    throw error;
  } finally {
    await handle?.close();
  }
}

async function probeByFfmpeg(file: string, ffmpeg: string, ffprobe: string): Promise<Omit<FileProbe, 'missingS'>> {
  const entries = ['-show_entries', 'stream=channels:format=duration', '-select_streams', 'a:0', '-of', 'json'];
  let probed: z.infer<typeof Probed>;
  try {
    probed = Probed.parse(JSON.parse(await output(ffprobe, ['-v', 'error', ...LOCAL_ONLY, ...entries, `file:${file}`], PROBE_TIMEOUT_MS)));
  } catch (error) {
    throw badAudio(file, `is not an audio file that can be read${reason(error, file)}`, error);
  }
  const stream = probed.streams[0];
  if (stream === undefined) throw badAudio(file, 'has no sound in it');
  try {
    // Headers may be fine where not one frame decodes.
    const args = ['-nostdin', '-v', 'error', ...LOCAL_ONLY, '-i', `file:${file}`, '-map', '0:a:0', '-t', '1', '-f', 's16le', '-ac', '1'];
    const pcm = await output(ffmpeg, [...args, '-ar', '16000', 'pipe:1'], PROBE_TIMEOUT_MS);
    if (pcm.length === 0) throw new Error('no samples');
  } catch (error) {
    throw badAudio(file, `cannot be decoded${reason(error, file)}`, error);
  }
  return { path: file, channels: stream.channels ?? 1, durationS: probed.format.duration ?? null, wav: null, ffmpeg };
}

function reason(error: unknown, file: string): string {
  const stderr = (error as { stderr?: string }).stderr ?? '';
  const words = firstComplaint(stderr, file);
  return words === '' ? '' : ` (${words})`;
}

/** The first thing that ffmpeg complained of, without its decoder's address and the file's path. */
export function firstComplaint(stderr: string, file: string): string {
  const line = stderr.split('\n').find((l) => l.trim() !== '') ?? '';
  return line
    .replace(/^(\[[^\]]*\] *)+/, '')
    .replaceAll(`file:${file}: `, '')
    .replaceAll(`file:${file}`, path.basename(file))
    .trim()
    .slice(0, 200);
}

function badAudio(file: string, what: string, cause?: unknown): AmbientError {
  return new AmbientError('bad_audio', `${path.basename(file)} ${what}.`, 'Give an audio or video file that ffmpeg can read.', { cause });
}

function noFfmpeg(file: string): AmbientError {
  return new AmbientError(
    'missing_tool',
    `ffmpeg is not installed; ${path.basename(file)} needs it (only 16 kHz WAV files are read without).`,
    process.platform === 'darwin' ? 'brew install ffmpeg' : 'sudo apt install ffmpeg',
  );
}
