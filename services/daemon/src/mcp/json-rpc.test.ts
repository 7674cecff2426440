import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMessage, readableError } from './json-rpc.js';

const codeOf = (line: string): number | 'message' => {
  const parsed = parseMessage(line);
  return 'error' in parsed ? parsed.error.error.code : 'message';
};

test.each([
  ['not json', -32700],
  ['{"jsonrpc":"2.0","id":1', -32700],
  ['[]', -32600],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
  ['null', -32600],
  ['"text"', -32600],
  ['{}', -32600],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":5}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600],
  ['{"jsonrpc":"2.0","id":1}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"initialize"}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}', -32602],
  ['{"jsonrpc":"2.0","id":"a","method":"tools/list"}', 'message'],
  ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'message'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'message'],
])('%s → %s', (line, expected) => {
  expect(codeOf(line)).toBe(expected);
});

test('an error answers the id that was asked with, or null when there is none', () => {
  expect(parseMessage('{"jsonrpc":"2.0","id":"seven","method":5}')).toMatchObject({ error: { id: 'seven' } });
  expect(parseMessage('nonsense')).toMatchObject({ error: { id: null } });
});

test('initialize without a version is answered in one sentence', () => {
  const parsed = parseMessage('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}');
  expect(parsed).toMatchObject({
    error: { id: 1, error: { message: expect.stringMatching(/^Invalid params: initialize needs `protocolVersion`.*\.$/) } },
  });
});

test('no line makes the parser throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((v) => JSON.stringify(v)),
      ),
      (line) => void parseMessage(line),
    ),
  );
});

test('a validation dump becomes one line', () => {
  const dump = `Invalid tools/call request: ${JSON.stringify([{ path: ['params', 'name'], message: 'Invalid input: expected string' }], null, 2)}`;
  const error = readableError({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: dump } });
  expect(error.error.message).toBe('Invalid tools/call request: params.name: Invalid input: expected string');
});
