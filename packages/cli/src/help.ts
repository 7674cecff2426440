import type { Command } from 'commander';

/** Adds examples to a verb's `--help`: each a command line and what it does. */
export function examples(command: Command, ...lines: readonly (readonly [command: string, meaning: string])[]): Command {
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}`);
}

/** The group of verbs called `name`, made when it is not there yet: groups are shared by several files. */
export function group(program: Command, name: string, description: string): Command {
  return program.commands.find((command) => command.name() === name) ?? program.command(name).description(description);
}

/** What SESSION takes, for help texts. */
export const SESSION_HELP = 'id, unique prefix, `last` or `live`';
