import type { Argument, Command, Option } from 'commander';
import { childOf, defaultVerb } from '../commands/help.js';

/** What the shell should offer besides the candidates. */
export type Directive = 'none' | 'files';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface Completion {
  readonly directive: Directive;
  readonly candidates: readonly Candidate[];
}

/**
 * Values of the argument or option of that name, such as only the daemon knows.
 * @param before the arguments before it
 * @param typed what is typed of it already
 */
export type DynamicValues = (name: string, before: readonly string[], typed: string) => Promise<readonly Candidate[] | undefined>;

interface Place {
  readonly command: Command;
  /** Arguments of the command given so far. */
  readonly given: readonly string[];
  /** The option whose value is being typed. */
  readonly option: Option | undefined;
  readonly used: ReadonlySet<Option>;
  readonly literal: boolean;
}

const NONE: Completion = { directive: 'none', candidates: [] };

/**
 * What may stand for the last of `words`.
 * @param words the command line after `ambientctl`; the last one is being typed and may be empty
 */
export async function complete(program: Command, words: readonly string[], dynamic: DynamicValues): Promise<Completion> {
  const current = words[words.length - 1] ?? '';
  const place = locate(program, words.slice(0, -1));
  if (place.option !== undefined) return filter(await valuesOf(place.option, optionName(place.option), [], current, dynamic), current);
  const assigned = /^(--[^=]+)=(.*)$/s.exec(current);
  if (assigned !== null && !place.literal) {
    const option = findOption(place.command, assigned[1] ?? '');
    if (option === undefined || !takesValue(option)) return NONE;
    const typed = assigned[2] ?? '';
    const values = filter(await valuesOf(option, optionName(option), [], typed, dynamic), typed);
    return {
      ...values,
      candidates: values.candidates.map(({ value, description }) => ({ value: `${assigned[1]}=${value}`, description })),
    };
  }
  if (current.startsWith('-') && !place.literal) return filter({ directive: 'none', candidates: optionsOf(place) }, current);
  return filter(await positional(place, current, dynamic), current);
}

/** Walks the words before the one being typed. */
function locate(program: Command, words: readonly string[]): Place {
  let command = program;
  let given: string[] = [];
  let option: Option | undefined;
  let literal = false;
  const used = new Set<Option>();
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
      continue;
    }
    if (literal || !word.startsWith('-') || word === '-') {
      const child: Command | undefined = literal || given.length > 0 ? undefined : childOf(command, word);
      if (child === undefined) given = [...given, word];
      else command = child;
      continue;
    }
    if (word === '--') {
      literal = true;
      continue;
    }
    const found = findOption(command, word.replace(/=.*$/s, ''));
    if (found === undefined) continue;
    used.add(found);
    if (takesValue(found) && !word.includes('=')) option = found;
  }
  return { command, given, option, used, literal };
}

async function positional({ command, given }: Place, typed: string, dynamic: DynamicValues): Promise<Completion> {
  if (command.name() === 'help') return { directive: 'none', candidates: helpTopics(command.parent, given) };
  const verbs = given.length === 0 ? visibleCommands(command) : [];
  const argument = argumentAt(command, given.length) ?? argumentAt(defaultVerb(command), given.length);
  if (argument === undefined) return { directive: 'none', candidates: verbs };
  const values = await valuesOf(argument, argument.name(), given, typed, dynamic);
  const taken = new Set(argument.variadic ? given : []);
  return { ...values, candidates: [...verbs, ...values.candidates.filter(({ value }) => !taken.has(value))] };
}

function argumentAt(command: Command | undefined, index: number): Argument | undefined {
  const known = command?.registeredArguments ?? [];
  const last = known[known.length - 1];
  return known[index] ?? (last?.variadic === true ? last : undefined);
}

async function valuesOf(
  what: { readonly argChoices?: readonly string[] | undefined },
  name: string,
  before: readonly string[],
  typed: string,
  dynamic: DynamicValues,
): Promise<Completion> {
  if (what.argChoices !== undefined) return { directive: 'none', candidates: what.argChoices.map((value) => ({ value, description: '' })) };
  const values = await dynamic(name, before, typed);
  if (values !== undefined) return { directive: 'none', candidates: values };
  return { directive: /file|path|dir/.test(name) ? 'files' : 'none', candidates: [] };
}

/** What `help` takes after the verbs that it was given. */
function helpTopics(program: Command | null, given: readonly string[]): Candidate[] {
  let command: Command | undefined = program ?? undefined;
  for (const word of given) command = command === undefined ? undefined : childOf(command, word);
  return command === undefined ? [] : visibleCommands(command).filter(({ value }) => value !== 'help');
}

function visibleCommands(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), description: child.description() }));
}

function findOption(command: Command, word: string): Option | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent)
    for (const option of at.options) if (option.long === word || option.short === word) return option;
  return undefined;
}

/** Options of a place with those of the commands above it, without the ones that are given already. */
function optionsOf({ command, used }: Place): Candidate[] {
  const help = command.createHelp();
  const all = [...help.visibleOptions(command), ...(command.parent === null ? [] : help.visibleGlobalOptions(command))];
  const free = all.filter((option) => ![...used].some((other) => other.long === option.long && !option.variadic));
  return free.flatMap((option) =>
    [option.long, option.short].flatMap((flag) => (flag ? [{ value: flag, description: option.description }] : [])),
  );
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** Name of an option's value, as it stands between the brackets of its flags. */
function optionName(option: Option): string {
  const value = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1]?.replace(/\.\.\.$/, '') ?? '';
  return `${option.long ?? option.short ?? ''} ${value}`;
}

function filter({ directive, candidates }: Completion, start: string): Completion {
  return { directive, candidates: candidates.filter(({ value }) => value.startsWith(start)) };
}
