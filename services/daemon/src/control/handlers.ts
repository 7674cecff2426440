import type { RouteName, RouteReply, Routes } from '@ambient/contract';
import type { z } from 'zod';

type Parsed<R, K extends string> = R extends { readonly [P in K]: infer S extends z.ZodType } ? { [P in K]: z.output<S> } : unknown;

/** What a handler is given: the parsed `params`, `query` and `body` of its route. */
export type HandlerInput<N extends RouteName> = Parsed<Routes[N], 'params'> & Parsed<Routes[N], 'query'> & Parsed<Routes[N], 'body'>;
export type Handler<N extends RouteName> = (input: HandlerInput<N>) => Promise<RouteReply<N>> | RouteReply<N>;
export type Handlers = { [N in RouteName]: Handler<N> };
/** The handlers of one area of the control API. */
export type Area<N extends RouteName> = Pick<Handlers, N>;
