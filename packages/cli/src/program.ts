import { createRequire } from 'node:module';
import { Command, type Option } from 'commander';
import { refuseUnknownVerbs } from './commands/help.js';
import { verbs } from './commands/index.js';
import type { CliContext } from './context.js';

const MANIFEST: unknown = createRequire(import.meta.url)('../package.json');

/** Version of this program. */
export const VERSION =
  typeof MANIFEST === 'object' && MANIFEST !== null && 'version' in MANIFEST && typeof MANIFEST.version === 'string'
    ? MANIFEST.version
    : '0';

interface CommanderOutput {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** The command tree. Wrong command lines throw CommanderError; nothing here ends the process. */
export function createProgram(context: CliContext, output: CommanderOutput): Command {
  const { stdout, out } = context;
  const program = new Command('ambientctl')
    .description('Records the room and the call, and turns speech into text, on your own machine.')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--json', 'print one JSON value on stdout; errors as one JSON object on stderr')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .usage('[--json] <verb> [options]')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      ...output,
      getOutHelpWidth: () => (stdout.isTTY === true ? (stdout.columns ?? 80) : 100),
      getErrHelpWidth: () => (stdout.isTTY === true ? (stdout.columns ?? 80) : 100),
      getOutHasColors: () => out.view.paint('bold', '') !== '',
      getErrHasColors: () => false,
    })
    .exitOverride();
  for (const register of verbs) register(program, context);
  refuseUnknownVerbs(program);
  showUsageAfterErrors(program);
  refuseRepeats(program);
  return program;
}

function showUsageAfterErrors(command: Command): void {
  command.showHelpAfterError(`Usage: ${command.createHelp().commandUsage(command)}`);
  for (const child of command.commands) showUsageAfterErrors(child);
}

/** An option with one value that is given twice says two things: neither is taken. The program serves one command line. */
function refuseRepeats(command: Command): void {
  for (const option of command.options.filter(takesOneValue)) {
    let given = false;
    command.on(`option:${option.name()}`, () => {
      if (given) command.error(`error: option '${option.flags}' was given twice`);
      given = true;
    });
  }
  for (const child of command.commands) refuseRepeats(child);
}

/** A parser that takes what was there before gathers values; that of choices, commander's own, does not. */
function takesOneValue({ required, optional, variadic, parseArg, argChoices }: Option): boolean {
  if (!required && !optional) return false;
  return !variadic && (argChoices !== undefined || parseArg === undefined || parseArg.length < 2);
}
