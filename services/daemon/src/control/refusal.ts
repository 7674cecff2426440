import type { Socket } from 'node:net';
import { AmbientError, type ErrorBody, misfitOf } from '@ambient/contract';
import type { FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { Logger } from '../platform/logger.js';

/** What a caller is told about an error that one of its requests met. */
export function refusalOf(error: unknown, request: FastifyRequest, logger: Logger): ErrorBody {
  if (error instanceof AmbientError) return error.toBody();
  if (hasZodFastifySchemaValidationErrors(error)) {
    const given = partOf(request, (error as { validationContext?: string }).validationContext);
    const misfits = error.validation.map(({ keyword, instancePath, message, params }) => {
      const path = instancePath.split('/').filter((part) => part !== '');
      return misfitOf(path, { ...params, code: keyword, message: message ?? '' }, at(given, path));
    });
    const [first] = misfits;
    return {
      code: 'bad_request',
      message: misfits.map(({ message }) => message).join(' '),
      hint: misfits.length === 1 && first !== undefined ? first.hint : 'Correct them and try again.',
    };
  }
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string };
  if (statusCode !== undefined && statusCode < 500) return { code: 'bad_request', message: message ?? 'The request cannot be read.' };
  if (code === 'ENOSPC') return { code: 'disk_full', message: 'The disk is full.', hint: 'Free some space; what is on disk is safe.' };
  logger.error({ err: error, url: request.url.split('?')[0] }, 'request failed');
  return { code: 'internal', message: 'Something went wrong inside the daemon.', hint: 'See `ambientctl daemon logs`.' };
}

/** Answers what is no HTTP, or more of it than is read. */
export function refuseConnection(error: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const refused: ErrorBody =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? { code: 'bad_request', message: 'The request is too long.', hint: 'Shorten it.' }
      : { code: 'bad_request', message: 'The request cannot be read.', hint: 'GET /v1/openapi.json describes every request.' };
  const text = JSON.stringify(refused);
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function partOf({ body, query, params }: FastifyRequest, context: string | undefined): unknown {
  if (context === 'body') return body;
  return context === 'params' ? params : query;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (part, key) => (typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[key] : undefined),
    value,
  );
}
