import { readFile } from 'node:fs/promises';
import { AmbientError, CONFIG_KEYS, type Config, type ConfigKey, ConfigSchema, configEnvName, faultOf } from '@ambient/contract';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import writeFileAtomic from 'write-file-atomic';

export type ConfigSource = 'environment' | 'flag' | 'file' | 'default';

export interface ConfigEntry {
  readonly key: ConfigKey;
  readonly value: Config[ConfigKey];
  readonly source: ConfigSource;
  readonly description: string;
}

interface ConfigStoreOptions {
  /** Path of config.json. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values given on the daemon's command line. */
  readonly flags?: Readonly<Record<string, unknown>>;
}

/** How `config.json` differs from what the daemon goes by. */
export interface ConfigDrift {
  readonly message: string;
  readonly hint: string;
}

type FileContent = Record<string, unknown>;

/**
 * Settings, taken from the environment, else a flag, else `config.json`, else the default.
 * A value that does not fit is named in `warnings` and passed over; unknown keys of the file are kept and named.
 */
export class ConfigStore {
  readonly #file: string;
  readonly #env: ConfigStoreOptions['env'];
  readonly #flags: Readonly<Record<string, unknown>>;
  readonly #listeners = new Set<(key: ConfigKey) => void>();
  #content: FileContent = {};
  #fileError: string | undefined;
  #values = new Map<ConfigKey, ConfigEntry>();
  #warnings: string[] = [];
  readonly #doubtful = new Set<ConfigKey>();
  /** The file as it was when it was last looked at for drift, and what was found. */
  #looked: { readonly text: string; readonly drift: ConfigDrift | undefined } | undefined;

  constructor(options: ConfigStoreOptions) {
    this.#file = options.file;
    this.#env = options.env;
    this.#flags = options.flags ?? {};
  }

  /** Reads the file. Never throws for what is in it. */
  async load(): Promise<void> {
    const { content, error } = await readConfigFile(this.#file);
    this.#content = content;
    this.#fileError = error;
    this.#looked = undefined;
    this.#resolve();
  }

  get<K extends ConfigKey>(key: K): Config[K] {
    return (this.#values.get(key)?.value ?? ConfigSchema.shape[key].parse(undefined)) as Config[K];
  }

  entries(): readonly ConfigEntry[] {
    return [...this.#values.values()];
  }

  /** Keys in the file that this build does not know. */
  unknownKeys(): readonly string[] {
    return Object.keys(this.#content).filter((key) => !isKey(key));
  }

  /** True when more was said about a setting than could be read: another value than the one meant may hold. */
  isDoubtful(key: ConfigKey): boolean {
    return this.#doubtful.has(key);
  }

  warnings(): readonly string[] {
    return this.#warnings;
  }

  /** What was changed in the file by hand since it was read; undefined when that makes no difference. Never throws. */
  async drift(): Promise<ConfigDrift | undefined> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => `\0${error.code}`);
    if (this.#looked?.text !== text) this.#looked = { text, drift: await this.#findDrift() };
    return this.#looked.drift;
  }

  async #findDrift(): Promise<ConfigDrift | undefined> {
    const now = new ConfigStore({ file: this.#file, env: this.#env, flags: this.#flags });
    await now.load();
    const [file, broken] = [this.#file, now.#fileError];
    if (broken !== undefined)
      return broken === this.#fileError
        ? undefined
        : {
            message: `${file} was changed since the daemon read it, and cannot be read any more.`,
            hint: 'What it said before holds until the next start. `ambientctl doctor` says where the fault is.',
          };
    const changed = this.entries().filter(({ key, value }) => now.get(key) !== value);
    if (changed.length === 0) return undefined;
    return {
      message: `Changed in ${file} since the daemon read it: ${changed.map(({ key }) => key).join(', ')}.`,
      hint: 'Run `ambientctl daemon restart`, or change settings with `ambientctl config`, which takes effect at once.',
    };
  }

  onChange(listener: (key: ConfigKey) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Writes one value to the file; null removes it, so that the default holds.
   * @throws AmbientError `not_found` unknown key, `bad_request` unfit value, `bad_config` broken file, `conflict` when the environment sets the key
   */
  async set(key: string, value: unknown): Promise<ConfigEntry> {
    if (!isKey(key)) throw unknownKey(key);
    const env = configEnvName(key);
    const unset = value === null || value === undefined;
    const parsed = unset ? undefined : coerce(key, value);
    if (parsed !== undefined && !parsed.ok)
      throw new AmbientError(
        'bad_request',
        `${key} ${parsed.reason}.`,
        `Give another value; \`ambientctl config ${key}\` says what it is for.`,
      );
    if (this.#env[env] !== undefined)
      throw new AmbientError('conflict', `${key} is set by the environment variable ${env}.`, `Unset ${env} and restart the daemon.`);
    const fresh = await readConfigFile(this.#file);
    if (fresh.error !== undefined)
      throw new AmbientError('bad_config', fresh.error, `Mend or move ${this.#file}, then set the value again.`);
    const next = { ...fresh.content };
    if (parsed === undefined) delete next[key];
    else next[key] = parsed.value;
    await writeFileAtomic(this.#file, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
    this.#content = next;
    this.#fileError = undefined;
    this.#looked = undefined;
    this.#resolve();
    for (const listener of this.#listeners) listener(key);
    const entry = this.#values.get(key);
    if (entry === undefined) throw new AmbientError('internal', `${key} has no value.`);
    return entry;
  }

  #resolve(): void {
    this.#values = new Map();
    this.#doubtful.clear();
    this.#warnings = this.#fileError === undefined ? [] : [this.#fileError];
    for (const key of CONFIG_KEYS) this.#values.set(key, this.#resolveKey(key));
    const unknown = this.unknownKeys();
    if (unknown.length > 0) this.#warnings.push(`Unknown settings in ${this.#file}, kept and not used: ${unknown.join(', ')}.`);
  }

  #resolveKey(key: ConfigKey): ConfigEntry {
    const description = ConfigSchema.shape[key].description ?? '';
    const candidates: [ConfigSource, unknown, string][] = [
      ['environment', this.#env[configEnvName(key)], configEnvName(key)],
      ['flag', this.#flags[key], `--${key}`],
      ['file', this.#content[key], `${key} in ${this.#file}`],
    ];
    for (const [source, raw, where] of candidates) {
      if (raw === undefined) continue;
      const parsed = coerce(key, raw);
      if (parsed.ok) return { key, value: parsed.value, source, description };
      this.#warnings.push(`${where} ${parsed.reason}; passed over.`);
      this.#doubtful.add(key);
    }
    if (this.#fileError !== undefined) this.#doubtful.add(key);
    return { key, value: ConfigSchema.shape[key].parse(undefined), source: 'default', description };
  }
}

type Coerced = { ok: true; value: Config[ConfigKey] } | { ok: false; reason: string };

/** Takes a value as it is, or a string as the JSON it spells: the command line and the environment have only strings. */
function coerce(key: ConfigKey, raw: unknown): Coerced {
  const schema = ConfigSchema.shape[key];
  const spelled = typeof raw === 'string' ? spelledValue(raw) : undefined;
  // Before the text itself: `null` is no device by that name.
  const candidates = spelled === null ? [null, raw] : [raw, spelled];
  for (const value of candidates) {
    // What spells nothing must not pass as "not given", which would quietly be the default.
    const parsed = value === undefined ? undefined : schema.safeParse(value);
    if (parsed?.success) return { ok: true, value: parsed.data };
  }
  const value = spelled ?? raw;
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  return { ok: false, reason: issue === undefined ? 'does not fit' : faultOf(issue, value) };
}

/** The value that a text spells in JSON, all of it: `30d` and `07` spell nothing. */
function spelledValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readConfigFile(file: string): Promise<{ content: FileContent; error?: string }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { content: {} };
    return { content: {}, error: `${file} cannot be read: ${(error as Error).message}; defaults are used.` };
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  if (first !== undefined) {
    const before = text.slice(0, first.offset).split('\n');
    const at = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
    return { content: {}, error: `${file} is not valid JSON at ${at} (${printParseErrorCode(first.error)}); defaults are used.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { content: {}, error: `${file} is not a JSON object; defaults are used.` };
  return { content: value as FileContent };
}

function isKey(key: string): key is ConfigKey {
  return (CONFIG_KEYS as string[]).includes(key);
}

function unknownKey(key: string): AmbientError {
  return new AmbientError('not_found', `There is no setting ${key}.`, 'Run `ambientctl config` for the list.');
}
