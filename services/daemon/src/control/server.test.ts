import { request } from 'node:http';
import type { ErrorBody } from '@ambient/contract';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bus } from '../platform/bus.js';
import { silentLogger } from '../platform/logger.js';
import type { Handlers } from './handlers.js';
import { buildControlApp } from './server.js';

let app: FastifyInstance;
beforeAll(async () => {
  const unused = (): never => {
    throw new Error('no request gets this far');
  };
  app = await buildControlApp({
    socketPath: '',
    version: '0',
    status: async () => unused(),
    handlers: {} as Handlers,
    bus: new Bus(unused),
    logger: silentLogger(),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

type Method = 'GET' | 'POST' | 'PATCH';
async function refused(method: Method, url: string, payload?: object): Promise<ErrorBody> {
  const reply = await app.inject({ method, url, ...(payload ? { payload } : {}) });
  expect(reply.statusCode).toBe(400);
  return reply.json();
}

describe('a request that does not fit is answered in a sentence with the next step', () => {
  const cases: [Method, string, object | undefined, string, string][] = [
    ['PATCH', '/v1/sessions/x', { name: 'n'.repeat(201) }, 'The name is 201 characters long; it may have at most 200.', 'Shorten it.'],
    ['PATCH', '/v1/sessions/x', { tags: ['a', 't'.repeat(65)] }, 'The tag is 65 characters long; it may have at most 64.', 'Shorten it.'],
    ['PATCH', '/v1/sessions/x', { tags: Array(65).fill('a') }, '`tags` holds 65; there may be at most 64.', 'Correct it and try again.'],
    ['PATCH', '/v1/sessions/x', { name: '  ' }, 'The name is empty.', 'Correct it and try again.'],
    ['PATCH', '/v1/sessions/x', { pinned: 'yes' }, '`pinned` has to be true or false.', 'Correct it and try again.'],
    ['POST', '/v1/recording/mute', {}, '`track` has to be one of: room, call.', 'Correct it and try again.'],
    ['POST', '/v1/recording/start', { seconds: 0 }, 'The number of seconds is 0; it has to be more than 0.', 'Correct it and try again.'],
    ['GET', '/v1/search', undefined, 'The search text is missing.', 'Correct it and try again.'],
    [
      'GET',
      `/v1/search?q=${'x'.repeat(100_000)}`,
      undefined,
      'The search text is 100000 characters long; it may have at most 1000.',
      'Shorten it.',
    ],
    ['GET', '/v1/search?q=a&limit=900', undefined, '`limit` is 900; it may be at most 200.', 'Correct it and try again.'],
    [
      'GET',
      `/v1/sessions/${'x'.repeat(100_000)}`,
      undefined,
      'The session is 100000 characters long; it may have at most 512.',
      'Shorten it.',
    ],
  ];
  it.each(cases)('%s %.40s', async (method, url, body, message, hint) =>
    expect(await refused(method, url, body)).toEqual({ code: 'bad_request', message, hint }),
  );

  it('also when it is too long to be read at all, or no request', async () => {
    const { port } = app.server.address() as { port: number };
    const get = (path: string): Promise<ErrorBody> =>
      new Promise((resolve, reject) => {
        const sent = request({ port, path, agent: false }, (reply) => {
          let text = '';
          reply.on('data', (chunk: Buffer) => {
            text += chunk.toString();
          });
          reply.on('end', () => resolve(JSON.parse(text) as ErrorBody));
        });
        sent.on('error', reject);
        sent.end();
      });
    // Through the socket, as a client sends it.
    expect(await get(`/v1/search?q=${'x'.repeat(100_000)}`)).toMatchObject({ message: expect.stringMatching(/at most 1000/) });
    expect(await get(`/v1/search?q=${'x'.repeat(3_000_000)}`)).toMatchObject({ code: 'bad_request', message: 'The request is too long.' });
  });
});
