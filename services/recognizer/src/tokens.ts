/** Pieces of the vocabulary, and the special ids that Moonshine adds after it. */
const VOCABULARY = 32_000;
const WITH_SPECIALS = 32_768;

/**
 * Moonshine's token table in sherpa-onnx's form: one `base64(piece) id` a line. `▁` stands for a space, `<0xNN>` for
 * that byte; ids from 32000 on are the special tokens `<<ST_n>>`.
 */
export async function llamaTokens(): Promise<string> {
  const { default: tokenizer } = await import('llama-tokenizer-js');
  const pieces = (tokenizer as unknown as { vocabById: readonly string[] }).vocabById;
  const lines: string[] = [];
  for (let id = 0; id < WITH_SPECIALS; id++) {
    const piece = id < VOCABULARY ? (pieces[id] ?? '') : `<<ST_${id - VOCABULARY}>>`;
    lines.push(`${pieceBytes(piece).toString('base64')} ${id}`);
  }
  return `${lines.join('\n')}\n`;
}

function pieceBytes(piece: string): Buffer {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
  return byte === undefined ? Buffer.from(piece.replaceAll('▁', ' '), 'utf8') : Buffer.from([Number.parseInt(byte, 16)]);
}
