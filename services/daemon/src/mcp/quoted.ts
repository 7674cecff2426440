/** Control characters, line separators, and marks that turn the direction of text around. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text of others on one line between quotes, so that it reads as data: quotes and unseen characters are escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As it is when it holds nothing but letters, digits and `:.+_-`, as ids and times do; otherwise quoted. */
export function bare(text: string): string {
  return /^[\w:.+-]+$/.test(text) ? text : quoted(text);
}
