import { type FollowEvent, follow } from '@ambient/client';
import type { Line, SessionState } from '@ambient/contract';
import type { CliContext } from './context.js';
import { contractLine, lineText } from './output/lines.js';
import { plain } from './output/text.js';

export interface Followed {
  readonly id: string;
  /** The folded lines that were published while following, in order. */
  readonly lines: readonly Line[];
  /** How it ended; undefined when following was stopped first. */
  readonly state: SessionState | 'removed' | undefined;
}

interface FollowerOptions {
  readonly signal: AbortSignal;
  readonly onLine: (line: Line, index: number) => void;
}

/** Follows a session to its end, telling each line to `onLine` and everything else of note to stderr. */
export async function followSession(context: CliContext, session: string, { signal, onLine }: FollowerOptions): Promise<Followed> {
  const lines: Line[] = [];
  let id = session;
  let state: Followed['state'];
  for await (const event of follow(context.client, session, { signal })) {
    if (event.type === 'session') id = event.id;
    else if (event.type === 'end') state = event.state;
    else if (event.type === 'line') {
      if (event.bleed) continue;
      const line = contractLine(event.line);
      lines.push(line);
      onLine(line, event.index);
    } else context.out.note(aside(event));
  }
  return { id, lines, state };
}

type Aside = Exclude<FollowEvent, { type: 'session' | 'line' | 'end' }>;

function aside(event: Aside): string {
  switch (event.type) {
    case 'struck':
      return event.lines.length === 0 ? '' : `(${event.lines.length} ${event.lines.length === 1 ? 'line was' : 'lines were'} struck)`;
    case 'warning':
      return plain(`Warning: ${event.warning.message}${event.warning.hint === undefined ? '' : ` ${event.warning.hint}`}`);
    case 'coverage':
      return '';
    case 'disconnected':
      return 'The daemon went away; waiting for it to come back…';
  }
}

export function printLine(context: CliContext, line: Line): void {
  // A line that was struck before it was published keeps its place and says nothing.
  if (line.text !== '') context.out.line(lineText(line, context.out.view));
}
