import type { Command } from 'commander';

interface ManOptions {
  readonly version: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
}

/** ambientctl(1), from the definitions of its verbs, in man(7). */
export function renderManPage(program: Command, { version, date }: ManOptions): string {
  const name = program.name();
  return `${[
    `.TH ${name.toUpperCase()} 1 ${date} "Ambient ${version}" "User Commands"`,
    '.SH NAME',
    `${name} \\- ${inline(lowerFirst(program.description()).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '.RI [ options ]',
    '.I verb',
    '.RI [ arguments ]',
    '.SH DESCRIPTION',
    paragraph(`${program.description()} A session may be named by its id, any unique prefix, last, or live.`),
    '.SH OPTIONS',
    ...options(program),
    '.SH VERBS',
    ...leaves(program).flatMap((command) => section(command)),
    '.SH EXIT STATUS',
    ...term('0', 'It is done.'),
    ...term('1', 'It failed; one line on standard error says why, and what to do.'),
    ...term('2', 'The command line is wrong.'),
    '.SH ENVIRONMENT',
    ...term('AMBIENT_HOME', 'Folder that holds everything: sessions, library, sockets, settings, models, logs.'),
    ...term('NO_COLOR', 'When set, nothing is coloured.'),
    '.SH FILES',
    ...term(
      '~/.local/share/ambient, ~/Library/Application Support/Ambient',
      'The home on Linux and on macOS, unless AMBIENT_HOME names another.',
    ),
  ].join('\n')}\n`;
}

/** Commands that do something, in the order of the help, each with the groups it stands in. */
function leaves(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
    .flatMap((child) => (child.commands.length > 0 ? leaves(child) : [child]));
}

function section(command: Command): string[] {
  const words: string[] = [];
  for (let at: Command | null = command; at?.parent != null; at = at.parent) words.unshift(at.name());
  const known = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `\\fI${inline(name)}\\fR` : `[\\fI${inline(name)}\\fR]`;
  });
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    '.TP',
    [`\\fB${inline(words.join(' '))}\\fR`, ...(command.options.length > 0 ? ['[\\fIoptions\\fR]'] : []), ...known].join(' '),
    paragraph(sentence(command.description())),
    ...(described.length + command.options.length > 0
      ? ['.RS', ...described.flatMap((argument) => term(argument.name(), sentence(argument.description))), ...options(command), '.RE']
      : []),
  ];
}

function options(command: Command): string[] {
  const help = command.createHelp();
  const all = command.parent === null ? help.visibleOptions(command) : help.visibleOptions(command).filter(({ long }) => long !== '--help');
  return all.flatMap((option) => term(option.flags, sentence(help.optionDescription(option))));
}

function term(head: string, text: string): string[] {
  return ['.TP', `.B ${inline(head)}`, paragraph(text)];
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(capital) ? capital : `${capital}.`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Text within a line: hyphens stay hyphens, backquotes become bold. */
function inline(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replace(/`([^`]*)`/g, '\\fB$1\\fR');
}

/** A line of its own: a leading dot or quote would be a request. */
function paragraph(text: string): string {
  const line = inline(text);
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
