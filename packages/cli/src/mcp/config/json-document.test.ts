import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { JsonDocument } from './json-document.js';

const PATH = ['mcpServers', 'ambient'];
const ENTRY = { command: '/n', args: ['a'], env: {} };
const put = (text: string, entry = ENTRY): string => JsonDocument.parse('f.json', text).put(PATH, entry);
const remove = (text: string): string => JsonDocument.parse('f.json', text).remove(PATH);

const COMMENTED = `// my servers
{
\t"theme": "dark", // keep
\t"mcpServers": {
\t\t/* docs */
\t\t"docs": { "command": "npx" } // the docs server
\t\t// more to come
\t},
\t"last": [1, 2,],
}
`;

describe('adding an entry to JSON', () => {
  it('keeps comments, tabs and trailing commas, and leaves each comment with its line', () => {
    expect(put(COMMENTED)).toBe(
      COMMENTED.replace(
        '"docs": { "command": "npx" } // the docs server\n',
        '"docs": { "command": "npx" }, // the docs server\n\t\t"ambient": {\n\t\t\t"command": "/n",\n\t\t\t"args": [\n\t\t\t\t"a"\n\t\t\t],\n\t\t\t"env": {}\n\t\t}\n',
      ),
    );
  });

  it('keeps Windows line ends and four spaces', () => {
    const text = '{\r\n    "mcpServers": {\r\n        "docs": {}\r\n    }\r\n}\r\n';
    const result = put(text);
    expect(result).toContain('        "docs": {},\r\n        "ambient": {\r\n            "command": "/n",');
    expect(result.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('keeps a minified file on one line', () => {
    expect(put('{"a":1,"mcpServers":{"docs":{"command":"npx"}}}')).toBe(
      '{"a":1,"mcpServers":{"docs":{"command":"npx"},"ambient":{"command":"/n","args":["a"],"env":{}}}}',
    );
  });

  it.each([
    ['', '{\n'],
    ['  \n', '{\n'],
    ['// only a comment\n', '// only a comment\n{\n'],
    ['{}', '{\n'],
    ['{\n}\n', '{\n'],
    ['{\n  // nothing yet\n}\n', '{\n  // nothing yet\n'],
    ['{"mcpServers":{}}', '{"mcpServers":{\n'],
  ])('begins well in %j', (text, start) => {
    const result = put(text);
    expect(parse(result)).toEqual({ mcpServers: { ambient: ENTRY } });
    expect(result.startsWith(start)).toBe(true);
  });

  it('changes only what differs in an entry that is there', () => {
    const text = '{"mcpServers": {"ambient": {"command": "/old", "args": ["a"], /* mine */ "env": {}}}}';
    expect(put(text)).toBe(text.replace('/old', '/n'));
    expect(put(put(text))).toBe(put(text));
  });

  it('removes keys that the new value lacks', () => {
    const text =
      '{\n  "mcpServers": {\n    "ambient": {\n      "command": "/n",\n      "url": "x", // gone\n      "args": ["a"],\n      "env": {}\n    }\n  }\n}\n';
    expect(parse(put(text))).toEqual({ mcpServers: { ambient: ENTRY } });
  });
});

describe('taking an entry out of JSON', () => {
  it('leaves the rest byte for byte, wherever the entry stood', () => {
    for (const text of [
      COMMENTED,
      '{\n  "mcpServers": {\n    "docs": {}\n  }\n}',
      '{"mcpServers":{"docs":{}}}',
      '{ "mcpServers": { "docs": {} } }',
    ])
      expect(remove(put(text))).toBe(text);
  });

  it.each([
    ['{"mcpServers":{"ambient":{},"docs":{}}}', '{"mcpServers":{"docs":{}}}'],
    ['{"mcpServers":{"a":{},"ambient":{},"docs":{}}}', '{"mcpServers":{"a":{},"docs":{}}}'],
    ['{"mcpServers":{"a":{},"ambient":{},}}', '{"mcpServers":{"a":{},}}'],
    ['{"mcpServers":{"ambient":{},}}', '{"mcpServers":{}}'],
    ['{\n  "mcpServers": {\n    "a": {}, // a\n    "ambient": {}\n  }\n}', '{\n  "mcpServers": {\n    "a": {} // a\n  }\n}'],
    ['{\r\n  "mcpServers": {\r\n    "ambient": {},\r\n    "a": {}\r\n  }\r\n}', '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}'],
    ['{"mcpServers":{"docs":{}}}', '{"mcpServers":{"docs":{}}}'],
  ])('%j', (before, after) => {
    expect(remove(before)).toBe(after);
  });
});

describe('a JSON file that cannot be edited', () => {
  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 'f.json:3:3:'],
    ['{"a": ', 'f.json:1:'],
    ['[1]', 'f.json:1:1: an object is expected'],
    ['{"a":1} x', 'f.json:1:9:'],
  ])('%j is refused with the position', (text, message) => {
    expect(() => JsonDocument.parse('f.json', text)).toThrow(message);
  });

  it.each([
    ['{"mcpServers": []}', 'f.json:1:16: an object is expected here'],
    ['{"mcpServers": null}', 'f.json:1:16: an object is expected here'],
    ['{"mcpServers": {"ambient": {}, "ambient": {}}}', '"ambient" is there twice'],
    ['{"mcpServers": {}, "mcpServers": {}}', '"mcpServers" is there twice'],
    ['{"a": {"__proto__": {}}, "mcpServers": {"a": {}}}', 'cannot be edited safely'],
  ])('%j is refused when the way to the entry is not clear', (text, message) => {
    expect(() => put(text)).toThrow(message);
  });
});

it('any JSON comes back byte for byte, in any formatting', () => {
  const servers = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue());
  fc.assert(
    fc.property(
      servers,
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom('', ' ', '  ', '\t', '    '),
      fc.boolean(),
      (inner, outer, indent, crlf) => {
        delete inner.ambient;
        delete outer.mcpServers;
        if (Object.keys(inner).length === 0) return;
        const json = JSON.stringify({ ...outer, mcpServers: inner }, null, indent);
        // A key of that name, however deep, is lost in parsing; such a file is refused and left as it is.
        if (json.includes('"__proto__":')) return;
        const text = crlf ? json.replaceAll('\n', '\r\n') : json;
        const added = put(text);
        expect(JSON.parse(added)).toEqual({ ...JSON.parse(text), mcpServers: { ...JSON.parse(text).mcpServers, ambient: ENTRY } });
        expect(remove(added)).toBe(text);
      },
    ),
    { numRuns: 500 },
  );
});
