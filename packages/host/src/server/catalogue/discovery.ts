/** The discovery document. It is computed from what is wired, so it cannot promise a missing feature. */
import {
  type Discovery,
  discovery,
  drainPolicies,
  forkModes,
  MAX_BUFFER_MS,
  MAX_PARTICIPANTS,
  PROTOCOL_VERSION,
  streamModes,
} from '@cairn/protocol';
import { SCHEMA_ROUNDS } from '../../agents/loop/repairs.ts';
import { joinPolicies, MAX_FAN_OUT } from '../../engine/nodes/dispatch-config.ts';
import { MAX_EVENT_BODY_BYTES } from '../../log/ports/rows.ts';
import type { HostConfig, LimitsConfig } from '../config/config.ts';
import { otlpProtocols } from '../config/outside.ts';
import { serveFixed } from '../http/fixed-document.ts';
import type { Route } from '../http/routes.ts';
import { IDEMPOTENCY_RETENTION_MS } from '../idempotency/idempotency.ts';
import { type AgentFacts, agentFamilies, agentOptions } from './agent-discovery.ts';

export interface DiscoveryFacts {
  readonly version: string;
  readonly hostId: string;
  readonly limits: Pick<
    LimitsConfig,
    'maxNodeExecutions' | 'maxRunDurationMs' | 'maxRequestBodyBytes' | 'clarificationRounds'
  >;
  /** How tokens of an issuer are accepted; absent where only keys are. */
  readonly jwt?: HostConfig['jwt'];
  /** Whether spans and metrics are exported over OTLP. */
  readonly exportsTelemetry: boolean;
  /** Null when this host does not run agents; they are then only installed and listed. */
  readonly agents: AgentFacts | null;
  /** Public keys of signed checkpoints, the present one first. */
  readonly checkpointKeys?: readonly string[] | undefined;
  /** The OAuth providers that users can sign in to. */
  readonly oauthProviders?: readonly string[] | undefined;
  /** Set in conformance mode: the ids of the workflows registered at start. */
  readonly fixtures: readonly string[] | null;
}

/** The name and version of this program on the wire. */
export const implementation = (version: string) => ({ name: 'cairn', version, vendor: 'cairn' });

/** Parallel dispatch, in the format of this host. */
const parallelDispatch = { fanOutPolicies: ['parallel'], joinPolicies, maxFanOut: MAX_FAN_OUT };

export function discoveryDocument(facts: DiscoveryFacts): Discovery {
  const { maxNodeExecutions, maxRunDurationMs, maxRequestBodyBytes, clarificationRounds } = facts.limits;
  const observability = observabilityOf(facts);
  const families = {
    protocolVersion: PROTOCOL_VERSION,
    implementation: implementation(facts.version),
    engineVersion: 2,
    eventLogSchemaVersion: 2,
    supportedTransports: ['rest' as const],
    // Clients learn from this envelope that interrupts are supported.
    supportedEnvelopes: ['clarification.request'],
    schemaVersions: { 'clarification.request': 1 },
    limits: {
      clarificationRounds,
      schemaRounds: SCHEMA_ROUNDS,
      // The only envelopes are questions, so one turn can at most use up what its node may ask.
      envelopesPerTurn: clarificationRounds,
      maxNodeExecutions,
      ...(maxRunDurationMs === undefined ? {} : { maxRunDurationMs }),
      // What every route takes. Packs and definitions may be larger, because they are no events.
      maxRequestBodyBytes: Math.min(maxRequestBodyBytes, MAX_EVENT_BODY_BYTES),
    },
    // No upper bounds: a run that asks for more than the limits above gets the limits.
    configurable: {
      recursionLimit: { type: 'number', min: 1 },
      runTimeoutMs: { type: 'number', min: 1 },
      budget: { type: 'object' },
      'cairn.contextId': { type: 'string' },
      ...(facts.agents === null ? {} : agentOptions(facts.agents)),
    },
    // A sub-workflow node needs no agents.
    subWorkflow: { inputMapping: true },
    runs: { pauseResume: { supported: true, drainPolicies: [...drainPolicies] } },
    conversationPrimitive: true,
    multiPartyConversation: { supported: true, maxParticipants: MAX_PARTICIPANTS },
    ...agentFamilies(facts.agents, facts.hostId),
    ...oauthOf(facts.oauthProviders ?? []),
    webhooks: { supported: true, signatureAlgorithms: ['v1'], durable: true },
    // `sideEffectSuppression` says more than `replay` alone: every effect of a replay comes from the record.
    replay: { supported: true, modes: [...forkModes], fork: true, sideEffectSuppression: 'recorded-outcome' },
    debugBundle: { supported: true },
    extensions: { interrupts: { signedCallbackTokens: true } },
    restTransport: { conditionalRunGet: true },
    auth: authOf(facts.jwt),
    idempotency: {
      supported: true,
      layer1RetentionSeconds: IDEMPOTENCY_RETENTION_MS / 1000,
      crossRegion: 'single-region',
    },
    ...(observability === null ? {} : { observability }),
    cairn: {
      hostId: facts.hostId,
      // Only keys with audit:read see the rows of operators, so others see gaps in `sequence`.
      sequenceHoles: true,
      ...(facts.checkpointKeys === undefined ? {} : { checkpointKeys: [...facts.checkpointKeys] }),
      streams: { modes: [...streamModes], maxBufferMs: MAX_BUFFER_MS },
      taskEvents: { stream: '/api/contexts/{contextId}/stream', toolCancel: true },
      ...(facts.agents === null ? {} : { dispatch: parallelDispatch, frontEnds }),
    },
  };
  if (facts.fixtures === null) return families;
  // Some suites read the families from a wrapper that the protocol has dropped.
  return { ...families, fixtures: [...facts.fixtures], capabilities: families };
}

/** Where front ends talk with agents: its own messages, AG-UI clients and AI SDK chats. All may bring client tools. */
const frontEnds = {
  messages: { path: '/api/messages', clientTools: true },
  agui: { path: '/api/agui/{agentId}', protocolVersion: '1.0', clientTools: true },
  aiSdk: { path: '/api/ai-sdk/{agentId}', uiMessageStream: 'v1', clientTools: true },
} as const;

/** Nothing without a provider: the host then never writes `connector.authorized`. */
const oauthOf = (providers: readonly string[]) =>
  providers.length === 0
    ? {}
    : {
        oauth: {
          supported: true,
          grants: ['authorization_code', 'refresh_token'],
          providers: providers.map((id) => ({ id })),
        },
      };

/** Besides keys, which every host takes: tokens of the configured issuer. */
function authOf(jwt: HostConfig['jwt']) {
  if (jwt === undefined) return { profiles: [] };
  const { issuer, audience, algorithms } = jwt;
  // The wire wants addresses; an issuer may have another kind of name.
  const isAddress = URL.canParse(issuer);
  return {
    profiles: ['openwop-auth-oauth2-client-credentials', 'openwop-auth-oidc-user-bearer'],
    oauth2: { supported: true, ...(isAddress ? { issuer } : {}), audience, supportedAlgorithms: [...algorithms] },
    oidc: {
      supported: true,
      ...(isAddress ? { issuers: [issuer] } : {}),
      audience,
      supportedScopeMapping: 'scope-claim',
    },
  };
}

/** The telemetry exporters of the host; null when there is none. */
function observabilityOf({ exportsTelemetry, fixtures }: DiscoveryFacts): object | null {
  if (!exportsTelemetry && fixtures === null) return null;
  return {
    ...(exportsTelemetry ? { otel: { exportProtocols: [...otlpProtocols] } } : {}),
    ...(fixtures === null ? {} : { testSeams: { otelScrape: true, debugBundleExport: true } }),
  };
}

/** `GET /.well-known/openwop`: open to everyone. */
export const discoveryRoutes = (document: () => Discovery): readonly Route[] => [
  {
    method: 'GET',
    path: '/.well-known/openwop',
    scope: null,
    handle: serveFixed(() => ({ text: JSON.stringify(document()), contentType: 'application/json; charset=utf-8' })),
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
