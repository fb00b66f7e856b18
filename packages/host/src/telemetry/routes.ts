/** Routes for operators and their tools: liveness, readiness and metrics. */
import { RetryableError, toEnvelope } from '@cairn/protocol';
import { z } from 'zod';
import type { Route } from '../server/http/routes.ts';
import type { Exposition } from './prometheus.ts';
import type { Readiness } from './readiness.ts';

export interface OperatorPorts {
  readonly readiness: Readiness;
  readonly scrape: () => Promise<Exposition>;
}

const alive = z.strictObject({ status: z.literal('alive') }).meta({ id: 'Alive' });
const ready = z
  .strictObject({
    status: z.literal('ready'),
    parts: z.strictObject({ store: z.literal('ok'), engine: z.literal('ok'), server: z.literal('ok') }),
  })
  .meta({ id: 'Ready' });

export function operatorRoutes({ readiness, scrape }: OperatorPorts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      scope: null,
      handle: async ({ reply }) => {
        reply.header('cache-control', 'no-store');
        return '{"status":"alive"}';
      },
      doc: {
        id: 'health',
        summary: 'Tell whether the process answers',
        responses: { 200: { description: 'It does.', shape: alive } },
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      scope: null,
      handle: async ({ reply }) => {
        const parts = Object.entries(await readiness.check());
        reply.header('cache-control', 'no-store');
        const missing = parts.filter(([, why]) => why !== null);
        const said = Object.fromEntries(parts.map(([part, why]) => [part, why ?? 'ok']));
        if (missing.length === 0) return JSON.stringify({ status: 'ready', parts: said });
        // Returned instead of thrown: a probe every second must not fill the log.
        reply.code(503).header('retry-after', '1');
        return JSON.stringify(
          toEnvelope(
            new RetryableError('service_unavailable', {
              message: `This host is not ready: ${missing.map(([part, why]) => `${part}: ${why}`).join('; ')}.`,
              hint: 'Ask again in a moment.',
              details: { parts: said },
            }),
          ),
        );
      },
      doc: {
        id: 'readiness',
        summary: 'Tell whether the host should get requests, and if not, which part is not ready',
        responses: { 200: { description: 'It should.', shape: ready } },
        errors: ['service_unavailable'],
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      scope: 'metrics:read',
      handle: async ({ reply }) => {
        const { contentType, text } = await scrape();
        reply.header('content-type', contentType).header('cache-control', 'no-store').send(text);
        return undefined;
      },
      doc: {
        id: 'metrics',
        summary: 'Read what the host measures, in the text format of Prometheus',
        responses: { 200: { description: 'All figures.', contentType: 'text/plain' } },
      },
    },
  ];
}
