#!/usr/bin/env node
// `npm run demo`: records a bundled conversation, reads it, searches it. Needs no microphone and no system package.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { bootstrap, ROOT } from '../bootstrap.mjs';
import { onPathLine } from '../lib/on-path.mjs';
import { capture, report, StepError } from '../lib/steps.mjs';
import { tree } from './tree.mjs';

/** Everything of the demo, apart from the user's own home. Kept until the next run, to look at. */
const HOME = path.join(ROOT, '.demo');
const CONVERSATION = path.join('test', 'fixtures', 'conversation');
const PROGRAM = path.join(ROOT, 'packages/cli/bin/ambientctl.js');
/** The conversation takes 30 s; a recording that is not over by then hangs. */
const RECORDING_LIMIT_MS = 120_000;
const NAME = 'Demo conversation';
const WORD = 'migration';

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const bold = (text) => (colour ? `\u001b[1m${text}\u001b[22m` : text);

/** The user's own settings stay out of the demo. */
const env = { ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AMBIENT_'))), AMBIENT_HOME: HOME };

/** Exit code once the demo has been told to end: by a signal, or because nobody reads what it prints any more. */
let ending;
/** The command that runs now. */
let running;

function end(code) {
  ending ??= code;
  running?.kill('SIGTERM');
}

function assertWanted() {
  if (ending !== undefined) throw new StepError('The demo was ended.');
}

function heading(number, text) {
  console.log(`\n${bold(`${number}. ${text}`)}`);
}

function quoted(args) {
  return args.map((arg) => (/^[\w./=-]+$/.test(arg) ? arg : `"${arg}"`)).join(' ');
}

/**
 * Runs ambientctl as a user would and shows the command with what it prints.
 * @returns the times, in ms from the start, at which it printed something
 * @throws StepError when it fails or takes longer than `limitMs`
 */
function run(args, { limitMs = 30_000 } = {}) {
  assertWanted();
  console.log(`$ ambientctl ${quoted(args)}`);
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const printed = [];
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    running = child;
    const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
    child.stdout.on('data', (chunk) => {
      printed.push(performance.now() - started);
      process.stdout.write(chunk);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      running = undefined;
      const took = performance.now() - started;
      // Told to end, it ends well.
      if (ending !== undefined) reject(new StepError(`ambientctl ${args[0]} was ended.`));
      else if (code === 0) resolve({ printed, took });
      else if (took >= limitMs) reject(new StepError(`ambientctl ${args[0]} did not end within ${limitMs / 1000} s.`));
      else reject(new StepError(`ambientctl ${args[0]} ended with ${signal ?? `exit code ${code}`}.`));
    });
  });
}

/** What a command prints with --json. */
async function json(...args) {
  assertWanted();
  const { code, output } = await capture(process.execPath, [PROGRAM, ...args, '--json'], { cwd: ROOT, env });
  if (code !== 0) throw new StepError(`ambientctl ${args[0]} --json ended with exit code ${code}.`, output);
  return JSON.parse(output);
}

function check(holds, what) {
  if (!holds) throw new StepError(`The demo did not do what it should: ${what}.`);
}

async function stopDaemon() {
  if (!existsSync(HOME) || !existsSync(PROGRAM)) return;
  await capture(process.execPath, [PROGRAM, 'daemon', 'stop'], { cwd: ROOT, env });
}

async function main() {
  console.log(bold('Ambient records a conversation and makes it text you can search. All of it stays on this machine.'));
  await bootstrap();
  assertWanted();
  await stopDaemon();
  rmSync(HOME, { recursive: true, force: true });

  heading(1, 'Record: two people talk for 30 s; each line comes while the audio still plays');
  const files = ['--room-file', path.join(CONVERSATION, 'room.wav'), '--call-file', path.join(CONVERSATION, 'call.wav')];
  const { printed, took } = await run(['start', ...files, '--pace', 'real', '--name', NAME, '--follow'], {
    limitMs: RECORDING_LIMIT_MS,
  });

  heading(2, 'Read: the finished transcript, with the room and the call told apart');
  await run(['show', 'last']);
  const lines = await json('show', 'last');
  check(printed.filter((ms) => ms < took - 5000).length > 0, 'no line came while the audio played');
  for (const track of ['room', 'call'])
    check(
      lines.some((line) => line.track === track && line.text !== ''),
      `the ${track} track has no line`,
    );

  heading(3, 'Search: every session, for a word');
  await run(['search', WORD]);
  const { sessions } = await json('search', WORD);
  const hit = sessions.flatMap((session) => session.matches).find((match) => match.field === 'text');
  check(hit?.snippet.toLowerCase().includes(WORD), `no line was found for "${WORD}"`);

  heading(4, 'Keep: plain files, yours');
  const [session] = await json('sessions');
  check(session?.name === NAME, 'the session is not in the list');
  console.log(tree(session.dir, path.relative(ROOT, session.dir)));

  heading(5, 'Stop');
  await run(['daemon', 'stop']);
  console.log('\nRecord your own: npx ambientctl start --follow      All verbs: npx ambientctl --help');
  const line = onPathLine(ROOT);
  if (line !== undefined) console.log(line);
}

// However the demo ends, its daemon is stopped on the way out.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])
  process.on(signal, () => end(code));
// `npm run demo | head` closes the pipe early: nothing is wrong with that.
process.stdout.on('error', (error) => end(error.code === 'EPIPE' ? 0 : 1));
process.stderr.on('error', () => {});
try {
  await main();
} catch (error) {
  process.exitCode = ending ?? report(error);
  if (ending === undefined && existsSync(HOME))
    console.error(`What the daemon noted is in ${path.join(path.relative(process.cwd(), HOME), 'logs')}.`);
} finally {
  await stopDaemon();
}
