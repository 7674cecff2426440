import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colours text, or leaves it alone where colour is not wanted. */
export type Paint = (format: Format, text: string) => string;

export const noPaint: Paint = (_format, text) => text;

const paint: Paint = (format, text) => styleText(format, text, { validateStream: false });

interface Target {
  readonly isTTY?: boolean | undefined;
}

/** Colour only on a terminal that can show it, and never against NO_COLOR (https://no-color.org). */
export function paintFor(stream: Target, env: Readonly<Record<string, string | undefined>>): Paint {
  const refused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  return stream.isTTY === true && !refused ? paint : noPaint;
}
