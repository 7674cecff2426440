import { AmbientError } from '@ambient/contract';
import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { isPlainSegment } from '../platform/files.js';
import type { ScopedSessions } from './scoped-sessions.js';

const PREFIX = 'ambient://sessions/';
const MIME_TYPE = 'text/markdown';
/** Sessions of one page of `resources/list`. */
const PAGE = 100;

export const SESSION_TEMPLATE: ResourceTemplateType = {
  uriTemplate: `${PREFIX}{id}`,
  name: 'session',
  title: 'Session transcript',
  description: 'The transcript of one session as Markdown; updated while it is being recorded.',
  mimeType: MIME_TYPE,
};

export function sessionUri(id: string): string {
  return PREFIX + encodeURIComponent(id);
}

/** The session a URI names, or undefined when it names none. Compared as text: a URL parser would resolve `..`. */
export function sessionOfUri(uri: string): string | undefined {
  if (!uri.startsWith(PREFIX)) return undefined;
  try {
    const id = decodeURIComponent(uri.slice(PREFIX.length));
    return isPlainSegment(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** @throws AmbientError `bad_request` for a cursor that was not given out here */
export async function resourcePage(
  sessions: ScopedSessions,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw new AmbientError('bad_request', 'The cursor is not one that was given out.');
  const from = Number(cursor ?? 0);
  const readable = (await sessions.list()).filter((row) => row.error === null);
  const resources = readable.slice(from, from + PAGE).map((row): Resource => {
    return { uri: sessionUri(row.id), name: row.id, title: row.name ?? row.id, mimeType: MIME_TYPE };
  });
  return from + PAGE < readable.length ? { resources, nextCursor: String(from + PAGE) } : { resources };
}

/** The transcript as Markdown. @throws AmbientError `not_found` */
export async function resourceText(sessions: ScopedSessions, id: string): Promise<{ mimeType: string; text: string }> {
  const session = await sessions.open(id);
  return { mimeType: MIME_TYPE, text: await session.export('markdown') };
}
