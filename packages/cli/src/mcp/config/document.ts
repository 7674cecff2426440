import { AmbientError } from '@ambient/contract';

/** A JSON-like value, as configuration files hold it. */
export type ConfigObject = { readonly [key: string]: unknown };

/** A configuration file's text, edited in place: whatever an edit is not about stays as it is, byte for byte. */
export interface ConfigDocument {
  /** What the file says. */
  readonly value: ConfigObject;
  /**
   * The text with `value` at `path`. Where an object is there already, only the keys that differ are touched.
   * @throws AmbientError `bad_config` when something on the way is no object
   */
  put(path: readonly string[], value: ConfigObject): string;
  /** The text without what is at `path`. */
  remove(path: readonly string[]): string;
}

export function isConfigObject(value: unknown): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** What is at `path`, or undefined. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) value = isConfigObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** `root` with `value` at `path`, or without anything there when `value` is undefined. */
export function withValueAt(root: ConfigObject, path: readonly string[], value: unknown): ConfigObject {
  const [key, ...rest] = path;
  if (key === undefined) return root;
  const inner = root[key];
  if (rest.length > 0) return { ...root, [key]: withValueAt(isConfigObject(inner) ? inner : {}, rest, value) };
  if (value !== undefined) return { ...root, [key]: value };
  return Object.fromEntries(Object.entries(root).filter(([name]) => name !== key));
}

/** The error for a mistake in a file, with its position. */
export function syntaxError(file: string, text: string, offset: number, problem: string): AmbientError {
  const before = text.slice(0, offset).split(/\r?\n/);
  const line = before.length;
  const column = (before.at(-1) ?? '').length + 1;
  return new AmbientError(
    'bad_config',
    `${file}:${line}:${column}: ${problem}.`,
    'Nothing was changed. Correct the file, then run the command again.',
  );
}

/** An edit whose result is not what was meant is never written. */
export function unsafeEdit(file: string): AmbientError {
  return new AmbientError(
    'bad_config',
    `${file} is written in a way that cannot be edited safely.`,
    'Nothing was changed. Add the entry by hand; `--print` shows it.',
  );
}

/** Line ending that the text uses. */
export function eolOf(text: string): '\r\n' | '\n' {
  return /\r\n/.test(text) ? '\r\n' : '\n';
}
