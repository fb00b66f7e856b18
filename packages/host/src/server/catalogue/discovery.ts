/** The discovery document: computed from what is wired, so that it cannot promise what is not there. */
import {
  type Discovery,
  discovery,
  drainPolicies,
  MAX_BUFFER_MS,
  MAX_PARTICIPANTS,
  PROTOCOL_VERSION,
  streamModes,
} from '@cairn/protocol';
import { joinPolicies, MAX_FAN_OUT } from '../../engine/nodes/dispatch-config.ts';
import type { HostLimits } from '../config/config.ts';
import { otlpProtocols } from '../config/outside.ts';
import { serveFixed } from '../http/fixed-document.ts';
import type { Route } from '../http/routes.ts';
import { IDEMPOTENCY_RETENTION_MS } from '../idempotency/idempotency.ts';
import { type AgentFacts, agentFamilies, agentOptions } from './agent-discovery.ts';

export interface DiscoveryFacts {
  readonly version: string;
  readonly hostId: string;
  readonly limits: Pick<HostLimits, 'maxNodeExecutions' | 'maxRunDurationMs' | 'maxRequestBodyBytes'>;
  /** Whether spans and metrics leave by OTLP. */
  readonly exportsTelemetry: boolean;
  /** Null when nothing runs agents: then they are installed and listed only. */
  readonly agents: AgentFacts | null;
  /** Set in conformance mode: the ids of the workflows registered at start. */
  readonly fixtures: readonly string[] | null;
}

/** What this program calls itself on the wire. */
export const implementation = (version: string) => ({ name: 'cairn', version, vendor: 'cairn' });

/** Workers side by side, as our configuration has them. */
const parallelDispatch = { fanOutPolicies: ['parallel'], joinPolicies, maxFanOut: MAX_FAN_OUT };

export function discoveryDocument(facts: DiscoveryFacts): Discovery {
  const { maxNodeExecutions, maxRunDurationMs, maxRequestBodyBytes } = facts.limits;
  const observability = observabilityOf(facts);
  const families = {
    protocolVersion: PROTOCOL_VERSION,
    implementation: implementation(facts.version),
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
    configurable: {
      recursionLimit: { type: 'number', min: 1 },
      runTimeoutMs: { type: 'number', min: 1 },
      budget: { type: 'object' },
      'cairn.contextId': { type: 'string' },
      ...(facts.agents === null ? {} : agentOptions),
    },
    // A workflow as a node of another needs no agents.
    subWorkflow: { inputMapping: true },
    runs: { pauseResume: { supported: true, drainPolicies: [...drainPolicies] } },
    conversationPrimitive: true,
    multiPartyConversation: { supported: true, maxParticipants: MAX_PARTICIPANTS },
    ...agentFamilies(facts.agents),
    webhooks: { supported: true, signatureAlgorithms: ['v1'], durable: true },
    debugBundle: { supported: true },
    extensions: { interrupts: { signedCallbackTokens: true } },
    restTransport: { conditionalRunGet: true },
    idempotency: {
      supported: true,
      layer1RetentionSeconds: IDEMPOTENCY_RETENTION_MS / 1000,
      crossRegion: 'single-region',
    },
    ...(observability === null ? {} : { observability }),
    cairn: {
      hostId: facts.hostId,
      streams: { modes: [...streamModes], maxBufferMs: MAX_BUFFER_MS },
      ...(facts.agents === null ? {} : { dispatch: parallelDispatch }),
    },
  };
  if (facts.fixtures === null) return families;
  // Some suites read the families from a wrapper that the protocol has given up.
  return { ...families, fixtures: [...facts.fixtures], capabilities: families };
}

/** Which ways telemetry leaves the host; null when none does. */
function observabilityOf({ exportsTelemetry, fixtures }: DiscoveryFacts): object | null {
  if (!exportsTelemetry && fixtures === null) return null;
  return {
    ...(exportsTelemetry ? { otel: { exportProtocols: [...otlpProtocols] } } : {}),
    ...(fixtures === null ? {} : { testSeams: { otelScrape: true, debugBundleExport: true } }),
  };
}

/** `GET /.well-known/openwop`: for everybody. */
export const discoveryRoutes = (document: Discovery): readonly Route[] => [
  {
    method: 'GET',
    path: '/.well-known/openwop',
    scope: null,
    handle: serveFixed(() => ({ text: JSON.stringify(document), contentType: 'application/json; charset=utf-8' })),
    doc: {
      id: 'getDiscovery',
      summary: 'What this host can do',
      responses: {
        200: { description: 'The discovery document.', shape: discovery },
        304: { description: 'Not changed since the answer with the ETag in `If-None-Match`.' },
      },
    },
  },
];
