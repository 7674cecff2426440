/** White space and comments between JSON tokens. All functions start outside of strings. */

/** Where the next token begins, from `at` on. */
export function skipTrivia(text: string, at: number): number {
  for (;;) {
    while (/\s/.test(text[at] ?? '')) at++;
    const end = commentEnd(text, at);
    if (end === undefined) return at;
    at = end;
  }
}

/** Behind the comments that begin and end on the line of `at`: they speak of what stands before them. */
export function behindLineComments(text: string, at: number): number {
  let behind = at;
  for (let next = at; ; ) {
    while (text[next] === ' ' || text[next] === '\t') next++;
    const end = commentEnd(text, next);
    if (end === undefined || text.slice(next, end).includes('\n')) return behind;
    behind = end;
    next = end;
  }
}

/** Behind the comment that begins at `at`, without its line end; undefined when none begins there. */
function commentEnd(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) {
    const end = /\r?\n|$/.exec(text.slice(at));
    return at + (end?.index ?? 0);
  }
  if (!text.startsWith('/*', at)) return undefined;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}
