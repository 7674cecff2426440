import { isDeepStrictEqual } from 'node:util';
import { parse, patch } from '@decimalturn/toml-patch';
import {
  type ConfigDocument,
  type ConfigObject,
  eolOf,
  isConfigObject,
  syntaxError,
  unsafeEdit,
  valueAt,
  withValueAt,
} from './document.js';
import { endOfLine, scanToml, type TomlStatement } from './toml-scanner.js';

/** A table in the text: its header and what follows up to the next header. */
interface Table {
  readonly header: TomlStatement;
  readonly pairs: readonly TomlStatement[];
}

/**
 * TOML. An entry that is a table of its own, as all hosts write it, is edited by splicing lines; any other form goes
 * through a patching parser, and is refused when a comment would get lost.
 */
export class TomlDocument implements ConfigDocument {
  readonly value: ConfigObject;
  readonly #file: string;
  readonly #text: string;
  readonly #eol: string;

  private constructor(file: string, text: string, value: ConfigObject) {
    this.#file = file;
    this.#text = text;
    this.value = value;
    this.#eol = eolOf(text);
  }

  /** @throws AmbientError `bad_config` with the position of the first mistake */
  static parse(file: string, text: string): TomlDocument {
    try {
      return new TomlDocument(file, text, read(text));
    } catch (error) {
      const { line = 1, column = 0, message } = error as { line?: number; column?: number; message: string };
      const offset =
        text
          .split('\n')
          .slice(0, line - 1)
          .join('\n').length +
        (line > 1 ? 1 : 0) +
        column;
      throw syntaxError(file, text, offset, `not valid TOML (${message.trim().split('\n').at(-1) ?? 'syntax error'})`);
    }
  }

  put(path: readonly string[], value: ConfigObject): string {
    for (let depth = 1; depth < path.length; depth++) {
      const way = valueAt(this.value, path.slice(0, depth));
      if (way !== undefined && !isConfigObject(way)) throw unsafeEdit(this.#file);
    }
    const wanted = withValueAt(this.value, path, value);
    if (isDeepStrictEqual(wanted, this.value)) return this.#text;
    const table = this.#table(path);
    const current = valueAt(this.value, path);
    const attempts = [
      table !== undefined ? this.#update(path, table, value) : undefined,
      table === undefined && current === undefined ? this.#append(path, value) : undefined,
      () => this.#patch(wanted),
    ];
    return this.#checked(attempts, wanted, path);
  }

  remove(path: readonly string[]): string {
    const wanted = withValueAt(this.value, path, undefined);
    const gone = this.#tables().filter(({ header }) => startsWith(header.keys, path));
    return this.#checked([gone.length > 0 ? this.#cut(gone) : undefined, () => this.#patch(wanted)], wanted, path);
  }

  #append(path: readonly string[], value: ConfigObject): string {
    const body = [
      `[${path.map(printKey).join('.')}]`,
      ...Object.entries(value).map(([key, inner]) => `${printKey(key)} = ${print(inner)}`),
    ];
    if (this.#text.trim() === '') return `${this.#text}${body.join(this.#eol)}${this.#eol}`;
    const isOpen = !this.#text.endsWith('\n');
    return `${this.#text}${isOpen ? this.#eol : ''}${this.#eol}${body.join(this.#eol)}${isOpen ? '' : this.#eol}`;
  }

  #update(path: readonly string[], table: Table, value: ConfigObject): string | undefined {
    const current = valueAt(this.value, path);
    if (!isConfigObject(current)) return undefined;
    const edits: { from: number; to: number; text: string }[] = [];
    const fresh: string[] = [];
    for (const [key, inner] of Object.entries(value)) {
      if (isDeepStrictEqual(current[key], inner)) continue;
      const pair = table.pairs.find(({ keys }) => keys.length === 1 && keys[0] === key);
      const nested = this.#table([...path, key]);
      if (pair !== undefined) edits.push({ from: pair.valueFrom, to: pair.valueTo, text: print(inner) });
      else if (nested !== undefined && isConfigObject(inner)) {
        const inside = TomlDocument.parse(this.#file, this.#update([...path, key], nested, inner) ?? '');
        return inside.put(path, value);
      } else if (Object.hasOwn(current, key)) return undefined;
      else fresh.push(`${printKey(key)} = ${print(inner)}`);
    }
    for (const key of Object.keys(current)) {
      if (Object.hasOwn(value, key)) continue;
      const pair = table.pairs.find(({ keys }) => keys.length === 1 && keys[0] === key);
      if (pair === undefined) return undefined;
      edits.push({ from: pair.from, to: endOfLine(this.#text, pair.valueTo), text: '' });
    }
    const last = table.pairs.at(-1) ?? table.header;
    if (fresh.length > 0) {
      const at = this.#lineEnd(last.valueTo);
      edits.push({ from: at, to: at, text: fresh.map((line) => this.#eol + line).join('') });
    }
    let text = this.#text;
    for (const edit of edits.sort((a, b) => b.from - a.from)) text = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
    return text;
  }

  #cut(tables: readonly Table[]): string {
    let text = this.#text;
    for (const { header, pairs } of [...tables].reverse()) {
      const to = endOfLine(text, (pairs.at(-1) ?? header).valueTo);
      let from = text.lastIndexOf('\n', header.from - 1) + 1;
      // The blank line that set the table off goes with it.
      const before = /\r?\n(\r?\n)$/.exec(text.slice(0, from));
      if (before?.[1] !== undefined) from -= before[1].length;
      text = text.slice(0, from) + text.slice(to);
    }
    return text;
  }

  #patch(wanted: ConfigObject): string | undefined {
    try {
      return patch(this.#text, wanted);
    } catch {
      return undefined;
    }
  }

  /** The first attempt whose result says exactly what was meant and has kept every comment. */
  #checked(attempts: readonly (string | undefined | (() => string | undefined))[], wanted: ConfigObject, path: readonly string[]): string {
    for (const attempt of attempts) {
      const text = typeof attempt === 'function' ? attempt() : attempt;
      if (text === undefined || !this.#keepsComments(text, path)) continue;
      try {
        if (isDeepStrictEqual(withoutEmpty(read(text), path), withoutEmpty(wanted, path))) return text;
      } catch {
        // Not valid any more: the next way, or none.
      }
    }
    throw unsafeEdit(this.#file);
  }

  /** Comments inside the entry's own table may go with it; all others must be there still. */
  #keepsComments(text: string, path: readonly string[]): boolean {
    const own = this.#tables()
      .filter(({ header }) => startsWith(header.keys, path))
      .map(({ header, pairs }) => [header.from, endOfLine(this.#text, (pairs.at(-1) ?? header).valueTo)] as const);
    for (const comment of this.#text.matchAll(/#.*$/gm))
      if (!own.some(([from, to]) => comment.index >= from && comment.index < to) && !text.includes(comment[0].trim())) return false;
    return true;
  }

  #table(path: readonly string[]): Table | undefined {
    return this.#tables().find(({ header }) => header.kind === 'table' && isDeepStrictEqual(header.keys, path));
  }

  #tables(): Table[] {
    const tables: { header: TomlStatement; pairs: TomlStatement[] }[] = [];
    for (const statement of scanToml(this.#text)) {
      if (statement.kind === 'pair') tables.at(-1)?.pairs.push(statement);
      else tables.push({ header: statement, pairs: [] });
    }
    return tables;
  }

  /** Before the line end, behind a comment. */
  #lineEnd(at: number): number {
    const newline = this.#text.indexOf('\n', at);
    if (newline === -1) return this.#text.length;
    return this.#text[newline - 1] === '\r' ? newline - 1 : newline;
  }
}

/** The parser's objects have no prototype, which would make equal values differ. */
function read(text: string): ConfigObject {
  return plainCopy(parse(text)) as ConfigObject;
}

function plainCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainCopy);
  return isConfigObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainCopy(inner)])) : value;
}

/** A table that exists only as the way to its sub-tables goes when the last of them does. */
function withoutEmpty(value: unknown, path: readonly string[]): unknown {
  if (!isConfigObject(value)) return value;
  const way = path.slice(0, -1);
  const container = valueAt(value, way);
  return isConfigObject(container) && Object.keys(container).length === 0 ? withValueAt(value, way, undefined) : value;
}

function startsWith(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((key, i) => keys[i] === key);
}

function printKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** A value on one line. JSON's string escapes are TOML's. */
function print(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
  if (isConfigObject(value)) {
    const pairs = Object.entries(value).map(([key, inner]) => `${printKey(key)} = ${print(inner)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  return JSON.stringify(value);
}
