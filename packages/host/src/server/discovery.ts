/** The discovery document: computed from what is wired, so that it cannot promise what is not there. */
import { hash } from 'node:crypto';
import type { Discovery } from '@cairn/protocol';
import type { FastifyInstance } from 'fastify';
import type { HostLimits } from './config.ts';
import { IDEMPOTENCY_RETENTION_MS } from './idempotency.ts';

export const DISCOVERY_PATH = '/.well-known/openwop';

export interface DiscoveryFacts {
  readonly version: string;
  readonly hostId: string;
  readonly limits: Pick<HostLimits, 'maxNodeExecutions' | 'maxRunDurationMs' | 'maxRequestBodyBytes'>;
  /** Set in conformance mode: the ids of the workflows registered at start. */
  readonly fixtures: readonly string[] | null;
}

export function discoveryDocument(facts: DiscoveryFacts): Discovery {
  const { maxNodeExecutions, maxRunDurationMs, maxRequestBodyBytes } = facts.limits;
  const families = {
    protocolVersion: '1.0',
    implementation: { name: 'cairn', version: facts.version, vendor: 'cairn' },
    engineVersion: 1,
    eventLogSchemaVersion: 2,
    supportedTransports: ['rest' as const],
    // Gates that ask questions work; naming their envelope is how a client learns that interrupts do.
    supportedEnvelopes: ['clarification.request'],
    schemaVersions: { 'clarification.request': 1 },
    limits: {
      clarificationRounds: 3,
      schemaRounds: 2,
      envelopesPerTurn: 5,
      maxNodeExecutions,
      ...(maxRunDurationMs === undefined ? {} : { maxRunDurationMs }),
      maxRequestBodyBytes,
    },
    // No upper bounds: a run that asks for more than the limits above gets the limits.
    configurable: { recursionLimit: { type: 'number', min: 1 }, runTimeoutMs: { type: 'number', min: 1 } },
    idempotency: {
      supported: true,
      layer1RetentionSeconds: IDEMPOTENCY_RETENTION_MS / 1000,
      crossRegion: 'single-region',
    },
    cairn: { hostId: facts.hostId },
  };
  if (facts.fixtures === null) return families;
  // Some suites read the families from a wrapper that the protocol has given up.
  return { ...families, fixtures: [...facts.fixtures], capabilities: families };
}

/** `GET /.well-known/openwop`: for everybody, cacheable, 304 when nothing changed. */
export function registerDiscovery(app: FastifyInstance, document: Discovery): void {
  const body = JSON.stringify(document);
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
  app.get(DISCOVERY_PATH, async (request, reply) => {
    reply.header('etag', etag).header('cache-control', 'public, max-age=300');
    if (matches(request.headers['if-none-match'], etag)) {
      reply.code(304);
      return reply.send();
    }
    reply.header('content-type', 'application/json; charset=utf-8');
    return body;
  });
}

const matches = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .some((candidate) => candidate.trim() === '*' || candidate.trim().replace(/^W\//, '') === etag);
