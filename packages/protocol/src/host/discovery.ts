/** The discovery document: the capabilities of a host, computed from its configuration. Clients read it first. */
import { z } from 'zod';
import { modelClasses } from '../agents/agent-ref.ts';
import { packScopes } from '../agents/packs.ts';
import { drainPolicies } from '../events/run.ts';
import { count, jsonObject, ordinal } from '../fields.ts';
import { reasoningVerbosities } from '../runs/run-options.ts';

/** The version of the protocol that this program speaks. */
export const PROTOCOL_VERSION = '1.0';

/** The sources of an agent invocation. */
const invocationSources = ['workflow-node', 'run-api', 'chat-mention'] as const;

const version = z.string().regex(/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/);

/** The limits that the host enforces (closed). */
export const discoveryLimits = z.strictObject({
  clarificationRounds: count,
  schemaRounds: count,
  envelopesPerTurn: count,
  maxNodeExecutions: ordinal.optional(),
  maxRunDurationMs: z.int().min(1000).optional(),
  maxLoopIterations: ordinal.optional(),
  maxBudgetTokens: ordinal.optional(),
  maxBudgetCostUsd: z.number().min(0).optional(),
  maxRequestBodyBytes: ordinal.optional(),
});

/** Required root fields and the families a host of this version may advertise; the root is open. */
export const discovery = z
  .looseObject({
    protocolVersion: version,
    supportedEnvelopes: z.array(z.string()),
    schemaVersions: z.record(z.string(), count),
    limits: discoveryLimits,
    protocolVersions: z.array(version).optional(),
    implementation: z
      .strictObject({
        name: z.string().optional(),
        version: z.string().optional(),
        vendor: z.string().optional(),
      })
      .optional(),
    engineVersion: count.optional(),
    eventLogSchemaVersion: count.optional(),
    minClientVersion: z.string().optional(),
    supportedTransports: z.array(z.enum(['rest', 'mcp', 'a2a', 'grpc'])).optional(),
    configurable: jsonObject.optional(),
    runtimeCapabilities: z.array(z.string()).optional(),
    extensions: jsonObject.optional(),
    fixtures: z.array(z.string()).optional(),
    conformance: z
      .strictObject({ mockAgent: z.boolean().optional(), certificationBundleUrl: z.string().optional() })
      .optional(),
    idempotency: z
      .looseObject({
        supported: z.boolean().optional(),
        layer1RetentionSeconds: z.int().min(86_400).optional(),
        layer2RetentionSeconds: count.optional(),
        crossRegion: z.string().optional(),
      })
      .optional(),
    runs: z
      .looseObject({
        pauseResume: z
          .looseObject({ supported: z.boolean().optional(), drainPolicies: z.array(z.enum(drainPolicies)).optional() })
          .optional(),
      })
      .optional(),
    /** Whether there is `core.conversationGate`. */
    conversationPrimitive: z.boolean().optional(),
    multiPartyConversation: z
      .strictObject({ supported: z.boolean(), maxParticipants: z.int().min(2).optional() })
      .optional(),
    webhooks: z
      .looseObject({
        supported: z.boolean().optional(),
        signatureAlgorithms: z.array(z.string()).optional(),
        durable: z.boolean().optional(),
      })
      .optional(),
    agents: z
      .looseObject({
        supported: z.boolean().optional(),
        reasoningEvents: z.boolean().optional(),
        toolEvents: z.boolean().optional(),
        handoffEvents: z.boolean().optional(),
        decisionEvents: z.boolean().optional(),
        modelClasses: z.array(z.enum(modelClasses)).optional(),
        orchestratorPattern: z.string().optional(),
        orchestrator: z.boolean().optional(),
        dispatch: z.boolean().optional(),
        dispatchMapping: z.boolean().optional(),
        memoryBackends: z.array(z.literal('long-term')).optional(),
        reasoning: z
          .strictObject({
            verbosity: z.enum(reasoningVerbosities).optional(),
            tokenLimit: count.optional(),
            streaming: z.boolean().optional(),
          })
          .optional(),
        manifestRuntime: z
          .strictObject({
            supported: z.boolean(),
            handoffValidation: z.boolean().optional(),
            installScope: z.enum(packScopes).optional(),
          })
          .optional(),
        liveRuntime: z
          .strictObject({
            supported: z.boolean(),
            structuredOutput: z.boolean().optional(),
            confidenceEscalation: z.boolean().optional(),
            sources: z.array(z.enum(invocationSources)).optional(),
          })
          .optional(),
      })
      .optional(),
    orchestrator: z
      .looseObject({
        supported: z.boolean().optional(),
        workerIdInterpretation: z.enum(['node', 'agent', 'either']).optional(),
        fanOutSupported: z.boolean().optional(),
      })
      .optional(),
    dispatch: z
      .looseObject({
        supported: z.boolean().optional(),
        models: z.array(z.string()).optional(),
        fanOutSupported: z.boolean().optional(),
        fanOutPolicies: z.array(z.enum(['sequential', 'reject', 'parallel'])).optional(),
        askUserRoutings: z.array(z.enum(['conversation', 'clarification', 'auto'])).optional(),
      })
      .optional(),
    subWorkflow: z.strictObject({ inputMapping: z.boolean().optional() }).optional(),
    multiAgent: z
      .strictObject({
        executionModel: z
          .looseObject({
            supported: z.boolean(),
            version: z.int().min(1).max(6),
            confidenceEscalationFloor: z.number().min(0.5).max(1).optional(),
            confidenceEscalationInterruptKind: z.string().optional(),
            /** How concurrent writes of runs to one memory are merged. */
            crossChildMemoryConcurrency: z.enum(['strict', 'advisory']).optional(),
            crossHostCausation: z
              .looseObject({
                supported: z.boolean(),
                hostId: z.string().optional(),
                ancestryEndpointSupported: z.boolean().optional(),
              })
              .optional(),
            replayDeterminism: z
              .looseObject({
                supported: z.boolean(),
                llmCacheKeyRecipe: z.string().optional(),
                refusalDivergenceEmission: z.boolean().optional(),
              })
              .optional(),
          })
          .optional(),
      })
      .optional(),
    prompts: z
      .looseObject({
        supported: z.boolean(),
        templateKinds: z.array(z.string()).optional(),
        variableSources: z.array(z.string()).optional(),
        observability: z.enum(['off', 'hashed', 'full']).optional(),
      })
      .optional(),
    /** Whether callers may refer to credentials, which the host keeps. */
    secrets: z
      .strictObject({
        supported: z.boolean(),
        scopes: z.array(z.enum(['tenant', 'user', 'run', 'workspace'])).optional(),
        resolution: z.literal('host-managed').optional(),
      })
      .optional(),
    /** The providers that a run may ask for; those in `byok` take a credential of the caller. */
    aiProviders: z
      .looseObject({ supported: z.array(z.string()).optional(), byok: z.array(z.string()).optional() })
      .optional(),
    memory: z
      .looseObject({
        supported: z.boolean().optional(),
        maxEntrySizeBytes: ordinal.optional(),
        ttlSupported: z.boolean().optional(),
        writable: z.boolean().optional(),
        search: z
          .strictObject({ supported: z.boolean(), modes: z.array(z.enum(['semantic', 'filter'])).optional() })
          .optional(),
      })
      .optional(),
    providerUsage: z.strictObject({ supported: z.boolean(), costEstimates: z.boolean().optional() }).optional(),
    toolHooks: z
      .strictObject({
        supported: z.boolean(),
        prePostEvents: z.boolean().optional(),
        perToolAuthorization: z.boolean().optional(),
        perToolRateLimit: z.boolean().optional(),
      })
      .optional(),
    toolCatalog: z.strictObject({ supported: z.boolean(), sources: z.array(z.string()).optional() }).optional(),
    debugBundle: z.looseObject({ supported: z.boolean().optional() }).optional(),
    restTransport: z.looseObject({ conditionalRunGet: z.boolean().optional() }).optional(),
    auth: z.looseObject({ profiles: z.array(z.string()).optional() }).optional(),
  })
  .meta({ id: 'Discovery' });

export type DiscoveryLimits = z.infer<typeof discoveryLimits>;
export type Discovery = z.infer<typeof discovery>;
