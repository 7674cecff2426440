import { z } from 'zod';

/** Every code an error of the control API can carry. */
export const ErrorCode = z.enum([
  'bad_request',
  'not_found',
  'ambiguous',
  'conflict',
  'forbidden',
  'unauthorized',
  'not_running',
  'already_running',
  'no_source',
  'missing_tool',
  'bad_audio',
  'bad_model',
  'bad_config',
  'disk_full',
  'refused_symlink',
  'too_new',
  'unavailable',
  'timeout',
  'internal',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** An error as it crosses a module edge or the socket: what happened, and the next step. */
export const ErrorBody = z.object({
  code: ErrorCode,
  /** What happened, in one sentence. */
  message: z.string(),
  /** The next step for the person who reads it. */
  hint: z.string().optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** HTTP status for each error code. */
export const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_request: 400,
  not_found: 404,
  ambiguous: 409,
  conflict: 409,
  forbidden: 403,
  unauthorized: 401,
  not_running: 409,
  already_running: 409,
  no_source: 422,
  missing_tool: 422,
  bad_audio: 422,
  bad_model: 422,
  bad_config: 422,
  disk_full: 507,
  refused_symlink: 403,
  too_new: 409,
  unavailable: 503,
  timeout: 504,
  internal: 500,
};
