/** One statement of a TOML text: a table header or a key with its value. Offsets into the text. */
export interface TomlStatement {
  readonly kind: 'table' | 'array' | 'pair';
  readonly keys: readonly string[];
  /** First character of the header or key. */
  readonly from: number;
  /** Of a pair: its value. Of a header: empty, behind the bracket. */
  readonly valueFrom: number;
  readonly valueTo: number;
}

/** Cuts a text that is known to be valid TOML into its statements. */
export function scanToml(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let at = 0;
  while (at < text.length) {
    at = skipBlank(text, at);
    if (at >= text.length) break;
    const from = at;
    if (text[at] === '[') {
      const double = text.startsWith('[[', at);
      const [keys, end] = readKeys(text, at + (double ? 2 : 1), ']');
      at = end + (double ? 2 : 1);
      statements.push({ kind: double ? 'array' : 'table', keys, from, valueFrom: at, valueTo: at });
    } else {
      const [keys, end] = readKeys(text, at, '=');
      const valueFrom = skipSpace(text, end + 1);
      at = skipValue(text, valueFrom);
      statements.push({ kind: 'pair', keys, from, valueFrom, valueTo: at });
    }
  }
  return statements;
}

/** Behind the comment and the line end that follow. */
export function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline === -1 ? text.length : newline + 1;
}

function skipSpace(text: string, at: number): number {
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

function skipBlank(text: string, at: number): number {
  for (;;) {
    while (at < text.length && /[\s\ufeff]/.test(text[at] ?? '')) at++;
    if (text[at] !== '#') return at;
    at = endOfLine(text, at);
  }
}

function readKeys(text: string, at: number, end: ']' | '='): [string[], number] {
  const keys: string[] = [];
  for (at = skipSpace(text, at); text[at] !== end && at < text.length; at = skipSpace(text, at)) {
    if (text[at] === '.') {
      at++;
      continue;
    }
    const from = at;
    if (text[at] === '"' || text[at] === "'") {
      at = skipString(text, at);
      const raw = text.slice(from, at);
      keys.push(raw.startsWith("'") ? raw.slice(1, -1) : unquote(raw));
    } else {
      while (at < text.length && /[A-Za-z0-9_-]/.test(text[at] ?? '')) at++;
      if (at === from) at++;
      keys.push(text.slice(from, at));
    }
  }
  return [keys, at];
}

function unquote(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw;
  }
}

/** Behind the string that begins at `at`. */
function skipString(text: string, at: number): number {
  const quote = text[at] ?? '';
  const triple = quote.repeat(3);
  const isLong = text.startsWith(triple, at);
  at += isLong ? 3 : 1;
  for (; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') {
      at++;
      continue;
    }
    if (!isLong && text[at] === quote) return at + 1;
    if (isLong && text.startsWith(triple, at)) {
      at += 3;
      // Up to two quotes may stand before the closing three.
      while (text[at] === quote) at++;
      return at;
    }
  }
  return at;
}

/** Behind the value that begins at `at`, without the space after it. */
function skipValue(text: string, at: number): number {
  let depth = 0;
  let end = at;
  while (at < text.length) {
    const character = text[at] ?? '';
    if (character === '"' || character === "'") {
      at = skipString(text, at);
      end = at;
      continue;
    }
    if (character === '#') {
      if (depth === 0) return end;
      at = endOfLine(text, at);
      continue;
    }
    if (character === '\n' && depth === 0) return end;
    if (character === '[' || character === '{') depth++;
    if (character === ']' || character === '}') depth--;
    at++;
    if (!/\s/.test(character)) end = at;
  }
  return end;
}
