import { type CliIo, createContext } from './context.js';
import { explain, printReport, ReportedFailure } from './errors.js';
import { createProgram } from './program.js';

/**
 * Runs one command line. @param argv without node and script. @returns the exit code: 0 done, 1 failed, 2 wrong usage.
 * Never ends the process, so that what was written is flushed.
 */
export async function run(argv: readonly string[], io: CliIo): Promise<0 | 1 | 2> {
  const json = wantsJson(argv);
  const context = createContext(io, json);
  let written = '';
  try {
    const program = createProgram(context, {
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => {
        written += text;
      },
    });
    const bare = argv.every((word) => word === '--json');
    await program.parseAsync(bare ? [...argv, 'overview'] : argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ReportedFailure) return 1;
    const report = explain(error, written);
    printReport(report, json, io.stderr, io.env);
    return report.exitCode;
  }
}

/** `--json` anywhere before `--`: known before parsing, because parsing errors are printed as JSON too. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}
