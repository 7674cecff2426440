import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { type CliIo, run } from '@ambient/cli';

const BIN = path.join(path.dirname(createRequire(import.meta.url).resolve('@ambient/cli/package.json')), 'bin/ambientctl.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A fresh home in a path short enough for sockets. */
export function temporaryHome(): { home: string; remove: () => void } {
  const home = mkdtempSync(path.join(tmpdir(), 'amb-'));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** Starts the built program. */
export function startAmbientctl(home: string, args: readonly string[], { cwd, env = {} }: Options = {}): ChildProcessWithoutNullStreams {
  const { NO_COLOR: _a, FORCE_COLOR: _b, ...rest } = process.env;
  const child = spawn(process.execPath, [BIN, ...args], { env: { ...rest, ...env, AMBIENT_HOME: home }, ...(cwd ? { cwd } : {}) });
  child.stdin.end();
  return child;
}

/** Runs the built program to its end. */
export function ambientctl(home: string, args: readonly string[], options: Options = {}): Promise<Ended> {
  return ended(startAmbientctl(home, args, options));
}

export function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

interface Terminal {
  /** Pretends that all three streams are a terminal of this width. */
  readonly columns?: number;
  readonly stdin?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly daemon?: CliIo['daemon'];
}

/** Runs the program inside this process: quick, and with any terminal. */
export async function runHere(
  home: string,
  args: readonly string[],
  { columns, stdin = '', cwd = process.cwd(), env = {}, daemon }: Terminal = {},
): Promise<Ended> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const isTTY = columns !== undefined;
  const input = Object.assign(new PassThrough(), { isTTY });
  input.end(stdin);
  const code = await run(args, {
    stdin: input,
    stdout: { isTTY, columns, write: (text) => void stdout.push(text) },
    stderr: { isTTY, columns, write: (text) => void stderr.push(text) },
    env: { PATH: process.env.PATH, ...env, AMBIENT_HOME: home },
    cwd,
    ...(daemon ? { daemon } : {}),
  });
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}
