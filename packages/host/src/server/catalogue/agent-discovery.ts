/**
 * The agent part of the discovery document. It lists only what is wired, because packs are checked and events gated
 * against it.
 */
import type { modelClasses, reasoningVerbosities } from '@cairn/protocol';
import { promptKinds, variableSources } from '../../agents/prompts/prompt-template.ts';
import { DECISION_FLOOR } from '../../engine/nodes/decision-floor.ts';
import { allModelClasses } from './model-classes.ts';

/** The agent features of this host. */
export interface AgentFacts {
  /** The classes of agents that find a model here. */
  readonly modelClasses: readonly (typeof modelClasses)[number][];
  /** Whether agents act with live models; otherwise only their rehearsals are played. */
  readonly isLive: boolean;
  /** Whether a person looks at decisions below the threshold. */
  readonly escalates: boolean;
  /** The providers that a run may ask for, and those of them that take a credential of the caller. */
  readonly providers: readonly string[];
  readonly byok: readonly string[];
  /** The default reasoning verbosity, and the limit on its length. */
  readonly reasoning: { readonly verbosity: (typeof reasoningVerbosities)[number]; readonly tokenLimit: number };
  /** Whether usage has cost estimates. */
  readonly costEstimates: boolean;
  /** Limits of agent memory; null when agents have none. */
  readonly memory: { readonly maxEntryBytes: number } | null;
  /** Whether tool calls have a rate limit per caller. */
  readonly limitsToolRate: boolean;
  /** Whether the catalogue of tools has those of MCP servers. */
  readonly hasMcpTools: boolean;
  /** Mock models that a run may request with `configurable.mockProvider`; empty outside conformance mode. */
  readonly mockProviders: readonly string[];
}

/** The discovery families for a host with or without agents. */
export const agentFamilies = (facts: AgentFacts | null, hostId: string) => ({
  agents: {
    ...(facts === null ? { supported: false } : running(facts)),
    modelClasses: [...(facts?.modelClasses ?? allModelClasses)],
    manifestRuntime: {
      supported: facts !== null,
      ...(facts === null ? {} : { handoffValidation: true }),
      installScope: 'tenant' as const,
    },
  },
  ...(facts === null ? {} : besideThem(facts, hostId)),
});

const running = ({ reasoning, memory, isLive, escalates }: AgentFacts) => ({
  supported: true,
  reasoningEvents: true,
  toolEvents: true,
  handoffEvents: true,
  decisionEvents: true,
  orchestratorPattern: 'delegate',
  // With this flag the wire also promises that low confidence suspends a supervisor.
  orchestrator: escalates,
  dispatch: true,
  dispatchMapping: true,
  reasoning: { ...reasoning, streaming: true },
  liveRuntime: isLive
    ? {
        supported: true,
        structuredOutput: true,
        confidenceEscalation: escalates,
        sources: ['workflow-node' as const, 'run-api' as const],
      }
    : { supported: false },
  ...(memory === null ? {} : { memoryBackends: ['long-term' as const] }),
});

/** Runs that start runs. The wire describes parallel workers differently, so ours are listed under `cairn`. */
const orchestration = (remembers: boolean, hostId: string) => ({
  orchestrator: { supported: true, workerIdInterpretation: 'node' as const, fanOutSupported: true },
  dispatch: {
    supported: true,
    models: ['child-run' as const],
    fanOutSupported: true,
    fanOutPolicies: ['sequential' as const, 'reject' as const],
    askUserRoutings: ['conversation' as const, 'clarification' as const, 'auto' as const],
  },
  multiAgent: {
    executionModel: {
      supported: true,
      version: 4,
      confidenceEscalationFloor: DECISION_FLOOR,
      confidenceEscalationInterruptKind: 'approval' as const,
      ...(remembers ? { crossChildMemoryConcurrency: 'strict' as const } : {}),
      crossHostCausation: { supported: true, hostId, ancestryEndpointSupported: true },
      replayDeterminism: { supported: true, llmCacheKeyRecipe: 'spec-rfc-0041', refusalDivergenceEmission: true },
    },
  },
});

/** Families that come with agents: prompts, tools, memory, and model costs. */
const besideThem = (
  { costEstimates, limitsToolRate, hasMcpTools, memory, mockProviders, providers, byok }: AgentFacts,
  hostId: string,
) => ({
  ...orchestration(memory !== null, hostId),
  prompts: {
    supported: true,
    templateKinds: [...promptKinds],
    variableSources: [...variableSources],
    observability: 'hashed' as const,
  },
  // Credentials belong to tenants, and callers name them; the host alone reads them.
  secrets:
    byok.length === 0
      ? { supported: false }
      : { supported: true, scopes: ['tenant' as const], resolution: 'host-managed' as const },
  aiProviders: { supported: [...providers], byok: [...byok] },
  modelCapabilities: { supported: true },
  providerUsage: { supported: true, ...(costEstimates ? { costEstimates } : {}) },
  toolHooks: {
    supported: true,
    prePostEvents: true,
    perToolAuthorization: true,
    ...(limitsToolRate ? { perToolRateLimit: true } : {}),
  },
  toolCatalog: { supported: true, sources: ['host-extension', ...(hasMcpTools ? ['mcp'] : [])] },
  ...(memory === null
    ? {}
    : {
        memory: {
          supported: true,
          maxEntrySizeBytes: memory.maxEntryBytes,
          ttlSupported: true,
          writable: true,
          search: { supported: true, modes: ['filter' as const] },
          retention: { ttl: true },
          attribution: { supported: true, emitsWriteEvents: true },
        },
      }),
  ...(mockProviders.length === 0
    ? {}
    : { testing: { mockProviders: [...mockProviders] }, conformance: { mockAgent: true } }),
});

/** Run options that only agents use; mocks only on a host under test. */
export const agentOptions = ({ mockProviders }: AgentFacts) => ({
  ...(mockProviders.length === 0 ? {} : { mockProvider: { type: 'object' } }),
  escalationThreshold: { type: 'number', min: 0, max: 1 },
  reasoningVerbosity: { type: 'string' },
  model: { type: 'string' },
  temperature: { type: 'number', min: 0, max: 2 },
  maxTokens: { type: 'number', min: 1 },
  'ai.provider': { type: 'string' },
  'ai.model': { type: 'string' },
  'ai.credentialRef': { type: 'string' },
  maxLoopIterations: { type: 'number', min: 1 },
  'cairn.tools': { type: 'array' },
});
