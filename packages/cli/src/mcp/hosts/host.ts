import { type ConfigObject, isConfigObject } from '../config/document.js';
import { JsonDocument } from '../config/json-document.js';
import { TomlDocument } from '../config/toml-document.js';

/** How a host starts the shim. All paths absolute: a host started from a desktop has a bare PATH. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What decides where a host keeps its configuration. */
export interface Place {
  /** The user's home folder. */
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** An MCP host that can be connected. A new one is a file like its neighbours, named in `index.ts`. */
export interface Host {
  /** As typed: `mcp connect ID`. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** Where the configuration may lie; the first that exists counts, else the first. */
  files(place: Place): readonly string[];
  /** Where the entry goes in a configuration that holds `config`. */
  path(config: ConfigObject, place: Place): readonly string[];
  /** A new entry. */
  entry(launch: Launch, path: readonly string[]): ConfigObject;
  /** How an entry starts its server, or undefined when it is of another kind. */
  launch(entry: unknown): Launch | undefined;
  /** Keys of the entry that say how the server is started; the others are the user's once they are there. */
  readonly own: readonly string[];
  /** The same by the host's own means, when it has some. */
  byHand?(launch: Launch): readonly string[];
  /** What the user does next. */
  readonly next: string;
}

/** Name of the entry in every host. */
export const ENTRY = 'ambient';

/** The user's configuration folder on Linux. */
export function configFolder({ home, env }: Place): string {
  const xdg = env.XDG_CONFIG_HOME;
  return xdg?.startsWith('/') ? xdg : `${home}/.config`;
}

export function parseDocument(host: Host, file: string, text: string): JsonDocument | TomlDocument {
  return host.format === 'json' ? JsonDocument.parse(file, text) : TomlDocument.parse(file, text);
}

/** How an entry with `command`, `args` and `env` starts its server. */
export function commonLaunch(entry: unknown): Launch | undefined {
  if (!isConfigObject(entry) || typeof entry.command !== 'string') return undefined;
  return { command: entry.command, args: strings(entry.args), env: stringRecord(entry.env) };
}

export const COMMON_OWN = ['type', 'command', 'args', 'env'] as const;

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function stringRecord(value: unknown): Record<string, string> {
  if (!isConfigObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

/** Quoted for a POSIX shell where needed. */
export function shell(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
