import type { Command } from 'commander';
import { suggest } from '../args/suggest.js';
import { examples } from '../help.js';

/** `ambientctl help VERB…`: commander's own looks at one word only, and shows the whole list for one it does not know. */
export function register(program: Command): void {
  examples(program.command('help').description('show help for a verb').argument('[verb...]', 'as it is typed'), [
    'ambientctl help mcp connect',
    'the same as `ambientctl mcp connect --help`',
  ]).action((words: readonly string[]) => {
    let command = program;
    for (const word of words) command = childOf(command, word) ?? unknownCommand(command, word);
    command.outputHelp();
  });
}

/** A group whose verb may be left out takes any word for an argument of that verb: a mistyped verb is named as one. */
export function refuseUnknownVerbs(command: Command): void {
  for (const child of command.commands) {
    refuseUnknownVerbs(child);
    if (child.commands.length > 0) continue;
    if (child.registeredArguments.length > 0 || defaultVerb(command) !== child) continue;
    child.allowExcessArguments().hook('preAction', () => {
      const [word] = child.args;
      if (word === undefined) return;
      if (command.args[0] === child.name())
        child.error(`error: too many arguments for '${child.name()}'`, { code: 'commander.excessArguments' });
      unknownCommand(command, word);
    });
  }
}

/** The verb of a group that is meant when none is named. */
export function defaultVerb(command: Command): Command | undefined {
  // Commander has no public way to ask for it.
  const name = (command as { _defaultCommandName?: string | null })._defaultCommandName;
  return name == null ? undefined : childOf(command, name);
}

export function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word));
}

function unknownCommand(command: Command, word: string): never {
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((child) => child.name());
  const near = suggest(word, names);
  command.error(`error: unknown command '${word}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`, {
    code: 'commander.unknownCommand',
  });
}
