import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

/**
 * Runs inside the application bundle, so that macOS puts its permission questions to Ambient: opens the microphone
 * until it gives sound or time is up, then opens system audio once. Arguments: file for the answer, audiotee or `-`,
 * longest wait for the microphone in seconds.
 */
export interface AskResult {
  readonly microphone: 'heard' | 'silent' | 'no_recorder';
  readonly system_audio: 'opened' | 'failed' | 'no_recorder';
}

/** Nothing but digital silence comes from a microphone that is not granted; a real one always has some noise. */
async function capture(command: string, args: readonly string[], ms: number): Promise<'sound' | 'zeros' | 'failed' | 'missing'> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    let bytes = 0;
    let sound = false;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      sound ||= chunk.some((byte) => byte !== 0);
    });
    const timer = setTimeout(() => child.kill('SIGTERM'), ms);
    child.once('error', () => {
      clearTimeout(timer);
      resolve('missing');
    });
    child.once('close', () => {
      clearTimeout(timer);
      resolve(sound ? 'sound' : bytes > 0 ? 'zeros' : 'failed');
    });
  });
}

async function askMicrophone(seconds: number): Promise<AskResult['microphone']> {
  const until = Date.now() + seconds * 1000;
  do {
    const heard = await capture(
      'sox',
      ['-q', '-d', '-t', 'raw', '-r', '16000', '-c', '1', '-e', 'signed', '-b', '16', '-', 'trim', '0', '0.5'],
      5_000,
    );
    if (heard === 'missing') return 'no_recorder';
    if (heard === 'sound') return 'heard';
    await new Promise((resolve) => setTimeout(resolve, 500));
  } while (Date.now() < until);
  return 'silent';
}

async function askSystemAudio(audiotee: string): Promise<AskResult['system_audio']> {
  if (audiotee === '-') return 'no_recorder';
  const heard = await capture(audiotee, ['--sample-rate', '16000'], 2_000);
  return heard === 'missing' ? 'no_recorder' : heard === 'failed' ? 'failed' : 'opened';
}

const [, , file = '', audiotee = '-', seconds = '60'] = process.argv;
const result: AskResult = { microphone: await askMicrophone(Number(seconds)), system_audio: await askSystemAudio(audiotee) };
await writeFile(file, JSON.stringify(result));
