/** What the discovery document says of agents: nothing that is not wired, since packs are held against it and events are gated by it. */
import { manifestModelClasses, modelClassOf, type reasoningVerbosities } from '@cairn/protocol';

/** What runs the agents of this host. */
export interface AgentFacts {
  /** What is shown of reasoning when a run does not say, and how much of it. */
  readonly reasoning: { readonly verbosity: (typeof reasoningVerbosities)[number]; readonly tokenLimit: number };
  /** Whether usage is priced. */
  readonly costEstimates: boolean;
  /** What agents can remember; null when they cannot. */
  readonly memory: { readonly maxEntryBytes: number } | null;
  /** Whether there is a limit on how often one caller's runs may call a tool. */
  readonly limitsToolRate: boolean;
  /** Stand-ins for models that a run may ask for by `configurable.mockProvider`; none outside of conformance mode. */
  readonly mockProviders: readonly string[];
}

/** Families that are there however agents are run, or are not. */
export const agentFamilies = (facts: AgentFacts | null) => ({
  agents: {
    ...(facts === null ? { supported: false } : running(facts)),
    modelClasses: [...new Set(manifestModelClasses.map(modelClassOf))],
    manifestRuntime: {
      supported: facts !== null,
      ...(facts === null ? {} : { handoffValidation: true }),
      installScope: 'tenant' as const,
    },
  },
  ...(facts === null ? {} : besideThem(facts)),
});

const running = ({ reasoning, memory }: AgentFacts) => ({
  supported: true,
  reasoningEvents: true,
  toolEvents: true,
  handoffEvents: true,
  decisionEvents: true,
  orchestratorPattern: 'delegate',
  orchestrator: true,
  dispatch: true,
  dispatchMapping: true,
  reasoning: { ...reasoning, streaming: true },
  liveRuntime: {
    supported: true,
    structuredOutput: true,
    confidenceEscalation: true,
    sources: ['workflow-node' as const, 'run-api' as const],
  },
  ...(memory === null ? {} : { memoryBackends: ['long-term' as const] }),
});

/** Runs that start runs. Of several workers side by side the wire knows another form than ours, which is named below `cairn`. */
const orchestration = (remembers: boolean) => ({
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
      version: 2,
      confidenceEscalationInterruptKind: 'approval' as const,
      ...(remembers ? { crossChildMemoryConcurrency: 'strict' as const } : {}),
    },
  },
});

/** What agents bring with them: prompts, tools, memory, and what their models cost. */
const besideThem = ({ costEstimates, limitsToolRate, memory, mockProviders }: AgentFacts) => ({
  ...orchestration(memory !== null),
  prompts: { supported: true, observability: 'hashed' as const, variableSources: ['input', 'variable', 'context'] },
  modelCapabilities: { supported: true },
  providerUsage: { supported: true, ...(costEstimates ? { costEstimates } : {}) },
  toolHooks: {
    supported: true,
    prePostEvents: true,
    perToolAuthorization: true,
    ...(limitsToolRate ? { perToolRateLimit: true } : {}),
  },
  toolCatalog: { supported: true, sources: ['host-extension'] },
  ...(memory === null
    ? {}
    : {
        memory: {
          supported: true,
          maxEntrySizeBytes: memory.maxEntryBytes,
          ttlSupported: true,
          attribution: { supported: true, emitsWriteEvents: true },
        },
      }),
  ...(mockProviders.length === 0
    ? {}
    : { testing: { mockProviders: [...mockProviders] }, conformance: { mockAgent: true } }),
});

/** Options of a run that only agents look at. */
export const agentOptions = {
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
};
