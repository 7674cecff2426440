import { expect, it } from 'vitest';
import { OversizedLine } from './oversized.js';

const x = 'y'.repeat(20_000);
const idOf = (line: string): unknown => {
  const oversized = new OversizedLine();
  for (let at = 0; at < line.length; at += 3001) oversized.push(Buffer.from(line.slice(at, at + 3001)));
  return oversized.id;
};

it.each([
  [`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"${x}"}}\n`, 7],
  [`{ "id" : "a\\"b", "jsonrpc" : "2.0", "method" : "ping", "params" : {"x":"${x}"}}\n`, 'a"b'],
  [`{"method":"ping","params":{"id":3,"x":"${x}"},"jsonrpc":"2.0","id":8}\n`, 8],
  [`{"method":"ping","params":{"id":3,"x":"${x}"},"id":9,"jsonrpc":"2.0"}\n`, 9],
])('the id of an over-long request is read from either end of the line', (line, id) => {
  expect(idOf(line)).toBe(id);
});

it.each([
  `{"jsonrpc":"2.0","id":7,"result":{"method":"ping","x":"${x}"}}\n`,
  `{"jsonrpc":"2.0","method":"note","params":{"x":"${x}","id":3}}\n`,
  `{"jsonrpc":"2.0","id":1.5,"method":"ping","params":{"x":"${x}"}}\n`,
  `["${x}"]\n`,
  x,
])('no id is made up for a response, a notification, or what is no message', (line) => {
  expect(idOf(line)).toBeNull();
});
