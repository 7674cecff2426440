import { spawn } from 'node:child_process';
import { AmbientError } from '@ambient/contract';

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Kill it after this long, ms. Default 60 000. */
  readonly timeoutMs?: number;
}

/** Runs a program found on PATH and waits for it. A non-zero exit is a result, not an error. */
export type Run = (command: string, args: readonly string[], options?: RunOptions) => Promise<RunResult>;

/** Most output kept of a program, bytes. */
const MAX_OUTPUT = 1_000_000;

/**
 * @param env environment of the programs; its PATH finds them
 * @throws AmbientError (from the returned function) `missing_tool` when the program is not on PATH, `timeout`
 */
export function runner(env: NodeJS.ProcessEnv): Run {
  return (command, args, options = {}) =>
    new Promise((resolve, reject) => {
      const { timeoutMs = 60_000 } = options;
      const child = spawn(command, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const output = { stdout: '', stderr: '' };
      let expired = false;
      const timer = setTimeout(() => {
        expired = true;
        child.kill('SIGKILL');
      }, timeoutMs);
      for (const name of ['stdout', 'stderr'] as const)
        child[name].setEncoding('utf8').on('data', (text: string) => {
          if (output[name].length < MAX_OUTPUT) output[name] += text;
        });
      child.once('error', (cause: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        if (cause.code !== 'ENOENT' && cause.code !== 'EACCES') reject(cause);
        else
          reject(
            new AmbientError('missing_tool', `${command} was not found on PATH.`, `Check that ${command} is installed and on PATH.`, {
              cause,
            }),
          );
      });
      child.once('close', (code) => {
        clearTimeout(timer);
        if (expired)
          reject(
            new AmbientError(
              'timeout',
              `${command} ${args[0] ?? ''} did not end within ${timeoutMs / 1000} s.`,
              'Try again; if it stays so, log out and in again.',
            ),
          );
        else resolve({ code: code ?? 1, ...output });
      });
    });
}

/** The last line that says something: what a person should see of a program's output. */
export function lastLine(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines[lines.length - 1] ?? '';
}
