import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Speaks a text into a WAV file (22 kHz mono) with espeak-ng. */
export async function speak(text: string, file: string, voice = 'en-us'): Promise<void> {
  await run('espeak-ng', ['-v', voice, '-s', '150', '-w', file, text]);
}

/** Makes a sine of `hz` Hz and `seconds` s at 16 kHz with sox. */
export async function tone(file: string, hz: number, seconds: number): Promise<void> {
  await run('sox', ['-n', '-r', '16000', '-c', '1', '-b', '16', file, 'synth', String(seconds), 'sine', String(hz), 'vol', '0.5']);
}
