import { chmod, unlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { probe } from '@ambient/client';
import {
  AmbientError,
  type DaemonEvent,
  type DaemonStatus,
  type ErrorBody,
  HTTP_STATUS,
  type Route,
  type RouteName,
  routes,
} from '@ambient/contract';
import swagger from '@fastify/swagger';
import websocket from '@fastify/websocket';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { jsonSchemaTransform, serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { WebSocket } from 'ws';
import type { Bus } from '../platform/bus.js';
import type { Logger } from '../platform/logger.js';
import { listenPrivately, SocketWatch } from '../platform/private-socket.js';
import type { Handlers } from './handlers.js';
import { refusalOf, refuseConnection } from './refusal.js';

interface ControlDeps {
  readonly socketPath: string;
  readonly version: string;
  readonly handlers: Handlers;
  readonly status: () => Promise<DaemonStatus>;
  readonly bus: Bus;
  readonly logger: Logger;
}

/** Largest request body, bytes. */
const BODY_LIMIT = 4 * 1024 * 1024;
/** Longest request line with its headers, bytes: the query is in it. */
const HEAD_LIMIT = 2 * 1024 * 1024;
/** An event listener that reads slower than this many bytes behind is dropped; it reconnects and reads afresh. */
const EVENT_BACKLOG_LIMIT = 8 * 1024 * 1024;

/** HTTP and WebSocket on the control socket. Only this user can connect: the socket is 0600 in a 0700 folder. */
export class ControlServer {
  readonly #deps: ControlDeps;
  readonly #watch: SocketWatch;
  #app: FastifyInstance | undefined;
  /** Listens in place of the app's own socket when that has lost its file. */
  #standIn: Server | undefined;

  constructor(deps: ControlDeps) {
    this.#deps = deps;
    this.#watch = new SocketWatch(deps.socketPath, () => this.#restore());
  }

  /** @throws AmbientError `conflict` when something live holds the socket */
  async start(): Promise<void> {
    const { socketPath } = this.#deps;
    if (await probe(socketPath))
      throw new AmbientError('conflict', `Something else answers on ${socketPath}.`, 'End it, or set AMBIENT_HOME to another folder.');
    await unlink(socketPath).catch(ignoreAbsent);
    const app = await buildControlApp(this.#deps);
    await app.listen({ path: socketPath });
    await chmod(socketPath, 0o600);
    this.#app = app;
    this.#watch.start();
  }

  async stop(): Promise<void> {
    await this.#watch.stop();
    this.#standIn?.close();
    this.#standIn = undefined;
    await this.#app?.close();
    this.#app = undefined;
    await unlink(this.#deps.socketPath).catch(ignoreAbsent);
  }

  /** The app goes on with the connections it has, and is given those of a new socket. */
  async #restore(): Promise<void> {
    const { socketPath, logger } = this.#deps;
    const server = this.#app?.server;
    if (server === undefined) return;
    // Closing removes the file at its path: first, so that it cannot be the new one.
    this.#standIn?.close();
    const standIn = createServer({ allowHalfOpen: true }, (socket) => server.emit('connection', socket));
    this.#standIn = standIn;
    try {
      await listenPrivately(standIn, socketPath);
      standIn.on('error', (error) => logger.error({ err: error }, 'control socket'));
      logger.warn({ socket: socketPath }, 'the control socket was removed; made again');
    } catch (error) {
      logger.error({ err: error }, 'the control socket was removed and cannot be made again');
      throw error;
    }
  }
}

/** The control API without a listener. */
export async function buildControlApp(deps: ControlDeps): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    bodyLimit: BODY_LIMIT,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    // What is too long reaches the validation, which says what is and how long it may be.
    http: { maxHeaderSize: HEAD_LIMIT },
    routerOptions: { maxParamLength: HEAD_LIMIT },
    clientErrorHandler: refuseConnection,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ambient control API',
        version: deps.version,
        description: 'HTTP on a Unix socket; errors are {code, message, hint}; events by WebSocket on /v1/events.',
      },
    },
    transform: jsonSchemaTransform,
  });
  await app.register(websocket, { options: { maxPayload: 64 * 1024 } });
  app.setErrorHandler((error, request, reply) => {
    const body = refusalOf(error, request, deps.logger);
    return reply.status(HTTP_STATUS[body.code]).send(body);
  });
  app.setNotFoundHandler((request, reply) =>
    reply.status(404).send({
      code: 'not_found',
      message: `There is no route ${request.method} ${request.url.split('?')[0]?.slice(0, 80)}.`,
      hint: 'GET /v1/openapi.json lists them.',
    } satisfies ErrorBody),
  );
  await app.register(async (scope) => {
    registerRoutes(scope, deps.handlers);
    registerEvents(scope, deps);
    scope.get('/v1/openapi.json', { schema: { hide: true } }, () => app.swagger());
  });
  return app;
}

function registerRoutes(app: FastifyInstance, handlers: Handlers): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const handler = handlers[name] as (input: unknown) => unknown;
    typed.route({
      method: route.method,
      url: route.path,
      schema: {
        operationId: name,
        summary: route.summary,
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { querystring: route.query } : {}),
        ...(route.body ? { body: route.body } : {}),
        response: { 200: route.reply },
      },
      // A body that is left out is an empty object: every body has defaults.
      preValidation: async (request) => {
        if (route.body && (request.body === undefined || request.body === null)) request.body = {};
      },
      handler: ({ params, query, body }) => handler({ params, query, body }),
    });
  }
}

function registerEvents(app: FastifyInstance, deps: ControlDeps): void {
  app.get('/v1/events', { websocket: true, schema: { hide: true } }, async (socket: WebSocket) => {
    const send = (event: DaemonEvent): void => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > EVENT_BACKLOG_LIMIT) socket.terminate();
      else socket.send(JSON.stringify(event));
    };
    // Nothing may fall between the first status and the events after it.
    const early: DaemonEvent[] = [];
    let deliver = (event: DaemonEvent): void => void early.push(event);
    const off = deps.bus.on(socket, (event) => deliver(event));
    socket.on('close', off);
    socket.on('error', () => socket.terminate());
    try {
      send({ type: 'status', status: await deps.status() });
      deliver = send;
      for (const event of early) send(event);
    } catch (error) {
      deps.logger.error({ err: error }, 'events: no status');
      socket.terminate();
    }
  });
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
