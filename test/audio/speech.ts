import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { SAMPLE_RATE } from '@ambient/contract';
import { wavHeader } from '../../services/daemon/src/sessions/wav.js';

const run = promisify(execFile);

/** Speaks a text into a WAV file (22 kHz mono) with espeak-ng. */
export async function speak(text: string, file: string, voice = 'en-us'): Promise<void> {
  await run('espeak-ng', ['-v', voice, '-s', '150', '-w', file, text]);
}

/** Writes a sine of `hz` Hz and `seconds` s, half of full scale, as 16 kHz mono s16 WAV. */
export async function tone(file: string, hz: number, seconds: number): Promise<void> {
  const samples = Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => 16_384 * Math.sin((2 * Math.PI * hz * i) / SAMPLE_RATE));
  await writeFile(file, Buffer.concat([wavHeader(samples.length), Buffer.from(samples.buffer)]));
}
