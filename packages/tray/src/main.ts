import { AmbientError } from '@ambient/contract';
import { run } from './run.js';

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const { message, hint } = error instanceof AmbientError ? error : { message: (error as Error).message, hint: undefined };
  process.stderr.write(`ambient-tray: ${hint === undefined ? message : `${message} ${hint}`}\n`);
  process.exitCode = error instanceof AmbientError && error.code === 'bad_request' ? 2 : 1;
}
