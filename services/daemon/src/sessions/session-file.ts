import path from 'node:path';
import { AmbientError, SESSION_SCHEMA, SessionFile } from '@ambient/contract';
import { z } from 'zod';
import { readNoFollow } from '../platform/files.js';
import { replaceFile } from './atomic-file.js';

export const SESSION_FILE = 'session.json';

/**
 * Reads `session.json` of the folder `dir`. Keys this build does not know are kept, at every depth; the id is the folder's name.
 * @throws AmbientError `refused_symlink`; `too_new` when a newer build made it; `unavailable` when it is missing or damaged
 */
export async function readSessionFile(dir: string): Promise<SessionFile> {
  const id = path.basename(dir);
  const bytes = await readNoFollow(path.join(dir, SESSION_FILE));
  if (bytes === undefined) throw damaged(`${SESSION_FILE} is missing`);
  let document: unknown;
  try {
    document = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw damaged(`${SESSION_FILE} is not valid JSON`, cause);
  }
  const version = z.looseObject({ schema: z.number() }).safeParse(document);
  if (version.success && version.data.schema > SESSION_SCHEMA) {
    throw new AmbientError(
      'too_new',
      `session ${id} was made by a newer version of Ambient (schema ${version.data.schema}, this one knows ${SESSION_SCHEMA})`,
      'Update Ambient; the session is left as it is.',
    );
  }
  const parsed = SessionFile.safeParse(document);
  if (!parsed.success) throw damaged(`${SESSION_FILE} is damaged: ${firstIssue(parsed.error)}`, parsed.error);
  // The document itself goes on top: parsing drops unknown keys of nested objects.
  return { ...parsed.data, ...(document as SessionFile), id };
}

/**
 * Replaces `session.json` atomically; durable on return.
 * @throws AmbientError `refused_symlink`, `disk_full`; ZodError for content that could not be read back
 */
export async function writeSessionFile(dir: string, file: SessionFile): Promise<void> {
  SessionFile.parse(file);
  await replaceFile(path.join(dir, SESSION_FILE), `${JSON.stringify(file, null, 2)}\n`);
}

function damaged(message: string, cause?: unknown): AmbientError {
  return new AmbientError('unavailable', message, 'Restore the file from a backup, or delete the session.', { cause });
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue ? `${issue.path.join('.') || 'the file'}: ${issue.message}` : error.message;
}
