import { Argument, type Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples, group } from '../help.js';
import { plain } from '../output/text.js';
import { complete } from './complete.js';
import { dynamicValues } from './dynamic.js';
import { installCompletions } from './install.js';
import { renderManPage } from './man-page.js';
import { SCRIPTS, SHELLS, type Shell } from './scripts.js';

/** Adds `completion` and the hidden verb that the completion scripts ask. */
export function register(program: Command, context: CliContext): void {
  const completion = group(program, 'completion', 'complete verbs, options and session ids with the Tab key');
  for (const shell of SHELLS)
    examples(completion.command(shell).description(`print the completion script for ${shell}`), [
      shell === 'fish' ? 'ambientctl completion fish | source' : `source <(ambientctl completion ${shell})`,
      'for this shell',
    ]).action(() => context.out.result({ shell, script: SCRIPTS[shell] }, () => SCRIPTS[shell].trimEnd()));
  examples(completion.command('man').description('print the man page'), ['ambientctl completion man | man -l -', 'read it']).action(() => {
    const page = manPage(program);
    context.out.result({ page }, () => page.trimEnd());
  });
  examples(
    completion
      .command('install')
      .description('install the completion scripts and the man page for this user')
      .addArgument(new Argument('[shell...]', 'which shells (default: all)').choices(SHELLS)),
    ['ambientctl completion install', 'for every shell'],
  ).action((shells: readonly Shell[]) => install(program, context, shells));

  program
    .command('__complete', { hidden: true })
    .description('answer a completion script')
    .argument('[words...]')
    .action((words: readonly string[]) => answer(program, context, words));
}

function manPage(program: Command): string {
  return renderManPage(program, { version: program.version() ?? '', date: new Date().toISOString().slice(0, 10) });
}

async function install(program: Command, context: CliContext, shells: readonly Shell[]): Promise<void> {
  const written = await installCompletions(context.env, shells.length > 0 ? shells : SHELLS, manPage(program));
  context.out.result(written, () =>
    written
      .flatMap(({ file, note }) => [`Wrote ${file}.`, ...(note === null ? [] : [`  ${note}`])])
      .map(plain)
      .join('\n'),
  );
}

async function answer(program: Command, context: CliContext, words: readonly string[]): Promise<void> {
  const { directive, candidates } = await complete(program, words, dynamicValues(context));
  const lines = candidates.map(({ value, description }) => `${plain(value)}\t${plain(description)}`);
  context.stdout.write(`${[directive, ...lines].join('\n')}\n`);
}
