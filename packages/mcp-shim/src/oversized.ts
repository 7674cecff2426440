import { isId } from './message.js';
import type { RequestId } from './problem.js';

/** How much of either end of an over-long line is looked at, bytes. */
const LOOK_BYTES = 4096;
const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`;
const ID_ONLY = new RegExp(ID);
/** Keys that may stand before the method or the id, in any order; a response has neither method nor params. */
const HEAD = new RegExp(
  String.raw`^\s*\{((?:\s*(?:"jsonrpc"\s*:\s*"2\.0"|"method"\s*:\s*"(?:[^"\\]|\\.)*"|${ID})\s*,)*)\s*("params"|"jsonrpc"|"method")?`,
);
/** The brace that ends the line ends the message, so the key before it is the message's own. */
const TAIL = new RegExp(String.raw`[,{]\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** Both ends of a line that is too long to be read. */
export class OversizedLine {
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);

  push(piece: Buffer): void {
    if (this.#head.length < LOOK_BYTES) this.#head = Buffer.concat([this.#head, piece.subarray(0, LOOK_BYTES - this.#head.length)]);
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-LOOK_BYTES)]).subarray(-LOOK_BYTES);
  }

  /** The id of the request, when one end of the line shows it beyond doubt; an answer's id is none. */
  get id(): RequestId | null {
    const head = HEAD.exec(this.#head.toString('utf8'));
    if (head === null || !head[0].includes('"method"')) return null;
    const literal = (ID_ONLY.exec(head[1] ?? '') ?? TAIL.exec(this.#tail.toString('utf8')))?.[1];
    const value: unknown = literal === undefined ? null : parsed(literal);
    return isId(value) ? value : null;
  }
}

function parsed(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return null;
  }
}
