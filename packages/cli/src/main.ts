import { writeSync } from 'node:fs';
import { run } from './run.js';

// A reader that has seen enough (`ambientctl show last | head`) is no failure.
const onPipeError = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'EPIPE') process.exit();
  writeSync(2, `ambientctl: the output cannot be written: ${error.message}. Free some space or send it elsewhere.\n`);
  process.exit(1);
};
process.stdout.on('error', onPipeError);
process.stderr.on('error', onPipeError);

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
});
