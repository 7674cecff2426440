import { isDeepStrictEqual } from 'node:util';
import { type Node, type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser';
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
import { behindLineComments, skipTrivia } from './json-trivia.js';

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const OPTIONS = { allowTrailingComma: true, disallowComments: false, allowEmptyContent: true };

/** JSON, or JSON with comments and trailing commas. */
export class JsonDocument implements ConfigDocument {
  readonly value: ConfigObject;
  readonly #file: string;
  readonly #text: string;
  readonly #root: Node | undefined;
  readonly #eol: string;
  readonly #unit: string;

  private constructor(file: string, text: string, root: Node | undefined, value: ConfigObject) {
    this.#file = file;
    this.#text = text;
    this.#root = root;
    this.value = value;
    this.#eol = eolOf(text);
    this.#unit = /^([ \t]+)\S/m.exec(text.replace(/\/\*[\s\S]*?\*\//g, ''))?.[1] ?? '  ';
  }

  /** @throws AmbientError `bad_config` with the position of the first mistake */
  static parse(file: string, text: string): JsonDocument {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, OPTIONS);
    const [error] = errors;
    if (error !== undefined)
      throw syntaxError(
        file,
        text,
        error.offset,
        `not valid JSON (${printParseErrorCode(error.error)
          .replace(/([a-z])([A-Z])/g, '$1 $2')
          .toLowerCase()})`,
      );
    if (root === undefined) return new JsonDocument(file, text, undefined, {});
    const value: unknown = parse(text, [], OPTIONS);
    if (!isConfigObject(value)) throw syntaxError(file, text, root.offset, 'an object is expected here');
    return new JsonDocument(file, text, root, value);
  }

  put(path: readonly string[], value: ConfigObject): string {
    // What is new goes in first and what is stale goes out after it, one by one: the commas between them are never edited twice.
    const current = valueAt(this.value, path);
    let text = this.#add(path, isConfigObject(current) ? union(current, value) : value);
    for (const stale of isConfigObject(current) ? stalePaths(current, value) : [])
      text = JsonDocument.parse(this.#file, text).remove([...path, ...stale]);
    return text;
  }

  #add(path: readonly string[], value: ConfigObject): string {
    return this.#checked(this.#root === undefined ? this.#fill(path, value) : this.#apply(this.#put(this.#root, path, value)), path, value);
  }

  remove(path: readonly string[]): string {
    let node = this.#root;
    let property: Node | undefined;
    for (const key of path) {
      property = node && this.#property(node, key);
      node = property?.children?.[1];
    }
    if (property?.parent === undefined) return this.#text;
    return this.#checked(this.#apply(this.#removal(property.parent, property)), path, undefined);
  }

  /** Nothing but white space or comments: they stay, and the object follows. */
  #fill(path: readonly string[], value: ConfigObject): string {
    const rest = this.#text.trimEnd();
    return `${rest === '' ? '' : rest + this.#eol}${this.#print(withValueAt({}, path, value), '')}${this.#eol}`;
  }

  #put(node: Node, path: readonly string[], value: unknown): Edit[] {
    const [key, ...rest] = path;
    if (key === undefined) return this.#assign(node, value);
    if (node.type !== 'object') throw syntaxError(this.#file, this.#text, node.offset, 'an object is expected here');
    const inner = this.#property(node, key)?.children?.[1];
    if (inner !== undefined) return this.#put(inner, rest, value);
    return this.#insertion(node, [[key, rest.length === 0 ? value : withValueAt({}, rest, value)]]);
  }

  #assign(node: Node, value: unknown): Edit[] {
    if (isDeepStrictEqual(nodeValue(this.#text, node), value)) return [];
    if (node.type !== 'object' || !isConfigObject(value))
      return [
        { from: node.offset, to: node.offset + node.length, text: this.#print(value, this.#indentAt(node.parent?.offset ?? node.offset)) },
      ];
    const edits: Edit[] = [];
    const fresh: [string, unknown][] = [];
    for (const [key, wanted] of Object.entries(value)) {
      const inner = this.#property(node, key)?.children?.[1];
      if (inner === undefined) fresh.push([key, wanted]);
      else edits.push(...this.#assign(inner, wanted));
    }
    return fresh.length === 0 ? edits : [...edits, ...this.#insertion(node, fresh)];
  }

  /** The property called `key`; twice the same key is a mistake that an edit would make worse. */
  #property(node: Node, key: string): Node | undefined {
    const found = (node.children ?? []).filter((property) => property.children?.[0]?.value === key);
    const second = found[1];
    if (second !== undefined) throw syntaxError(this.#file, this.#text, second.offset, `"${key}" is there twice`);
    return found[0];
  }

  #insertion(object: Node, entries: readonly (readonly [string, unknown])[]): Edit[] {
    const last = object.children?.at(-1);
    const end = object.offset + object.length - 1;
    const inside = this.#text.slice(object.offset, end);
    if (last !== undefined && !inside.includes('\n')) {
      const gap = inside.startsWith('{ ') ? ' ' : '';
      const text = entries.map(([key, value]) => `,${gap}${JSON.stringify(key)}:${gap}${JSON.stringify(value)}`).join('');
      return [{ from: last.offset + last.length, to: last.offset + last.length, text }];
    }
    const outer = this.#indentAt(object.offset);
    const indent = last === undefined ? outer + this.#unit : this.#indentAt(last.offset);
    const lines = entries.map(([key, value]) => `${this.#eol}${indent}${JSON.stringify(key)}: ${this.#print(value, indent)}`).join(',');
    if (last === undefined) {
      const from = object.offset + inside.trimEnd().length;
      return [{ from, to: end, text: `${lines}${this.#eol}${outer}` }];
    }
    const after = last.offset + last.length;
    const comma = this.#commaAfter(after, end);
    const at = behindLineComments(this.#text, comma === undefined ? after : comma + 1);
    const edits: Edit[] = [{ from: at, to: at, text: comma === undefined ? lines : `${lines},` }];
    if (comma === undefined) edits.unshift({ from: after, to: after, text: ',' });
    return edits;
  }

  #removal(object: Node, property: Node): Edit[] {
    const start = property.offset;
    const end = start + property.length;
    const close = object.offset + object.length - 1;
    const comma = this.#commaAfter(end, close);
    const edits: Edit[] = [];
    let to = comma === undefined ? end : comma + 1;
    const isAlone = /(^|\n)[ \t]*$/.test(this.#text.slice(0, start)) && /^[ \t]*(\r?\n|$)/.test(this.#text.slice(to));
    let from = start;
    if (isAlone) from = Math.max(0, this.#lineStart(start) - (this.#text.slice(0, this.#lineStart(start)).endsWith('\r\n') ? 2 : 1));
    else if (comma !== undefined) to += /^[ \t]*/.exec(this.#text.slice(to))?.[0].length ?? 0;
    const siblings = object.children ?? [];
    const previous = siblings[siblings.indexOf(property) - 1];
    if (comma === undefined && previous !== undefined) {
      const separator = this.#commaAfter(previous.offset + previous.length, start);
      if (separator !== undefined) {
        if (!isAlone) from = separator + 1;
        edits.push({ from: separator, to: separator + 1, text: '' });
      }
    }
    edits.push({ from, to, text: '' });
    return edits;
  }

  /** Offset of the comma that follows, with nothing but space and comments before it. */
  #commaAfter(from: number, limit: number): number | undefined {
    const at = skipTrivia(this.#text, from);
    return at < limit && this.#text[at] === ',' ? at : undefined;
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  #indentAt(offset: number): string {
    return /^[ \t]*/.exec(this.#text.slice(this.#lineStart(offset), offset))?.[0] ?? '';
  }

  #print(value: unknown, indent: string): string {
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', this.#eol + indent);
  }

  #apply(edits: readonly Edit[]): string {
    let text = '';
    let at = 0;
    for (const { from, to, text: replacement } of [...edits].sort((a, b) => a.from - b.from)) {
      text += this.#text.slice(at, from) + replacement;
      at = to;
    }
    return text + this.#text.slice(at);
  }

  #checked(text: string, path: readonly string[], value: unknown): string {
    const errors: ParseError[] = [];
    const result: unknown = parse(text, errors, OPTIONS);
    if (errors.length > 0 || !isDeepStrictEqual(result, withValueAt(this.value, path, value))) throw unsafeEdit(this.#file);
    // A file that a strict parser takes must stay one.
    if (isStrict(this.#text) && !isStrict(text)) throw unsafeEdit(this.#file);
    return text;
  }
}

function nodeValue(text: string, node: Node): unknown {
  return parse(text.slice(node.offset, node.offset + node.length), [], OPTIONS);
}

/** `wanted`, with the keys that only `current` has. */
function union(current: ConfigObject, wanted: ConfigObject): ConfigObject {
  const inner = Object.entries(wanted).map(([key, value]) => {
    const old = Object.hasOwn(current, key) ? current[key] : undefined;
    return [key, isConfigObject(old) && isConfigObject(value) ? union(old, value) : value];
  });
  return { ...current, ...Object.fromEntries(inner) };
}

/** Where `current` has a key that `wanted` has not. */
function stalePaths(current: ConfigObject, wanted: ConfigObject): string[][] {
  return Object.entries(current).flatMap(([key, old]) => {
    if (!Object.hasOwn(wanted, key)) return [[key]];
    const value = wanted[key];
    return isConfigObject(old) && isConfigObject(value) ? stalePaths(old, value).map((path) => [key, ...path]) : [];
  });
}

function isStrict(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
