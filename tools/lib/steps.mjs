import { spawn } from 'node:child_process';

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const dim = (text) => (colour ? `\u001b[2m${text}\u001b[22m` : text);

/** Runs `work` and prints one line: the title and how long it took. Rethrows what `work` throws. */
export async function step(title, work) {
  const start = performance.now();
  process.stdout.write(`  ${title} … `);
  try {
    const note = await work();
    console.log(dim(note ?? `${((performance.now() - start) / 1000).toFixed(1)} s`));
    return note;
  } catch (error) {
    console.log('failed');
    throw error;
  }
}

/** A step's failure: `message` for the user, `output` of the program that failed. */
export class StepError extends Error {
  constructor(message, output = '') {
    super(message);
    this.output = output;
  }
}

/**
 * Runs a program without a terminal and keeps what it prints.
 * @returns `{ code, output }`; code 127 when the program does not exist, 128 when a signal ended it
 */
export function capture(command, args, { cwd, env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const output = () => Buffer.concat(chunks).toString('utf8');
    child.once('error', (error) => resolve({ code: 127, output: `${output()}${error.message}\n` }));
    child.once('close', (code) => resolve({ code: code ?? 128, output: output() }));
  });
}

/** Runs a program in the user's sight. @returns its exit code; 127 and 128 as in `capture` */
export function show(command, args, { cwd, env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.once('close', (code) => resolve(code ?? 128));
  });
}

/** Prints a failed step and gives the exit code for it. */
export function report(error) {
  if (!(error instanceof StepError)) throw error;
  if (error.output !== '') process.stderr.write(error.output.endsWith('\n') ? error.output : `${error.output}\n`);
  console.error(error.message);
  return 1;
}
