/** Observes the HTTP surface: adds a trace header to every response and counts it by route, status and error. */
import type { ErrorCode } from '@cairn/protocol';
import type { FastifyInstance } from 'fastify';
import { type Route, routerPath } from '../server/http/routes.ts';
import { hostInstruments } from './instruments.ts';
import type { Recorder } from './meter.ts';
import { answerTraceparent, type RandomHex } from './trace-context.ts';

/** The tenant label of requests without a known caller. */
const UNKNOWN = 'unknown';

export class HttpWatch {
  readonly #recorder: Recorder;
  readonly #randomHex: RandomHex;

  constructor(recorder: Recorder, randomHex: RandomHex) {
    this.#recorder = recorder;
    this.#randomHex = randomHex;
  }

  /** Must run before every other hook, so that refused requests are seen too. */
  attach(app: FastifyInstance, routes: readonly Route[]): void {
    const timed = new Map(routes.filter((route) => !holds(route)).map(({ path }) => [routerPath(path), path] as const));
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('traceparent', answerTraceparent(request.headers, this.#randomHex));
      done();
    });
    app.addHook('onResponse', (request, reply, done) => {
      const path = timed.get(request.routeOptions.url ?? '');
      if (path !== undefined) {
        const values = [request.method, path, reply.statusCode];
        this.#recorder.record(hostInstruments.requests, values, reply.elapsedTime / 1000);
      }
      done();
    });
  }

  refused(code: ErrorCode, tenant: string | undefined): void {
    this.#recorder.add(hostInstruments.refusals, [code]);
    if (code === 'run_already_active') this.#recorder.add(hostInstruments.claimConflicts, ['rest', tenant ?? UNKNOWN]);
  }
}

/** Streams and long polls: their duration says nothing about the host. */
const holds = (route: Route): boolean => 'holds' in route && route.holds === true;
