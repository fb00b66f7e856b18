/** Assembles the agent runtime of a host: node types, models, tools, memory and prompts. */
import { foldEventOf } from '@cairn/protocol';
import { createCoordinatorPerformer } from '../../agents/coordination/coordinator.ts';
import type { OnInputRequired } from '../../agents/coordination/input-required.ts';
import type { DefinedAgent } from '../../agents/define-agent.ts';
import { createAgentNodes } from '../../agents/loop/agent-node.ts';
import type { LoopOptions } from '../../agents/loop/loop-options.ts';
import { createPeerNode } from '../../agents/loop/peer-node.ts';
import { hostMemory } from '../../agents/memory/host-memory.ts';
import { MAX_ENTRY_BYTES } from '../../agents/memory/memory.ts';
import { createConversations } from '../../agents/models/conversation-reader.ts';
import { createModelPerformer } from '../../agents/models/model-turn.ts';
import { mockProviderIds } from '../../agents/models/scripted/mock-providers.ts';
import { SCRIPTED } from '../../agents/models/scripted/scripted-model.ts';
import { createSupervisor } from '../../agents/orchestration/supervisor.ts';
import { OWN_PACK } from '../../agents/own-agents.ts';
import { PromptRegistry } from '../../agents/prompts/prompt-registry.ts';
import { createPromptSource } from '../../agents/prompts/prompt-source.ts';
import type { PromptTemplate } from '../../agents/prompts/prompt-template.ts';
import type { SignInPort } from '../../agents/tools/sign-in.ts';
import type { Tool } from '../../agents/tools/tool.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import type { AgentSource, Clock, Redactor, Report, Step } from '../../engine/ports.ts';
import { LongWork } from '../../engine/shares/long-work.ts';
import type { EngineOptions } from '../../engine/stepping/engine-options.ts';
import type { Store } from '../../log/ports/store.ts';
import { type CallTraces, tracedFetch } from '../../telemetry/call-traces.ts';
import { createArtifactFiles } from '../artifacts/artifact-files.ts';
import { createArtifactPort } from '../artifacts/artifact-port.ts';
import { createEditPerformer, editNode } from '../artifacts/edit-run.ts';
import { withLargeAnswers, withLargeValues } from '../artifacts/large-steps.ts';
import { withLargeTurns } from '../artifacts/large-turns.ts';
import { laterTurns, sha256, uniqueId } from '../compose.ts';
import type { HostConfig } from '../config/config.ts';
import type { App } from '../define-app.ts';
import type { HostAddress } from '../host-address.ts';
import type { HostExtension } from '../host-extension.ts';
import type { IdentifiedConfig } from '../host-id.ts';
import { patientFetch } from '../peers/patient-fetch.ts';
import { runFolder, runFolders } from '../runs/run-files.ts';
import type { AgentFacts } from './agent-discovery.ts';
import { createHostTools, type HostTools, type HostToolsPorts } from './host-tools.ts';
import { servedClasses } from './model-classes.ts';
import { type HostModels, hostModels } from './models.ts';

export interface AgentRuntime extends Required<Pick<EngineOptions, 'nodeTypes' | 'performers' | 'agents' | 'prompts'>> {
  /** What other surfaces show. */
  readonly served: { readonly tools: HostTools; readonly prompts: PromptRegistry; readonly models: HostModels };
  /** The step, whose results may be too large for an event. */
  readonly large: (step: Step) => Step;
  /** Offers these tools and templates instead of those defined before. */
  readonly redefine: (app: Pick<App, 'agents' | 'tools' | 'prompts'>) => void;
}

export interface AgentRuntimePorts {
  readonly store: Pick<Store, 'log' | 'definitions' | 'memories' | 'blobs' | 'artifacts' | 'subscriptions' | 'changes'>;
  readonly clock: Clock;
  /** The trace context of outbound calls. */
  readonly traces: Pick<CallTraces, 'headers' | 'inCall'>;
  readonly redactor: Redactor | null;
  readonly agentSource: AgentSource;
  readonly signIns: SignInPort;
  readonly extension: HostExtension;
  /** Agents defined with `defineAgent`. */
  readonly agents?: readonly DefinedAgent[];
  readonly lateResult: HostToolsPorts['lateResult'];
  readonly report: Report;
  readonly address: HostAddress;
  readonly cluster: HostToolsPorts['cluster'];
  /** Tools defined with `defineTool`. */
  readonly tools?: readonly Tool[];
  /** Templates that agent nodes may refer to. */
  readonly prompts?: readonly PromptTemplate[];
  /** Templates of packs, which stay when the program changes. */
  readonly packPrompts: readonly PromptTemplate[];
}

export function createAgentRuntime(config: IdentifiedConfig, ports: AgentRuntimePorts): AgentRuntime {
  const { store, agentSource, clock, traces, signIns, redactor, extension, tools = [], prompts: given = [] } = ports;
  const now = () => clock.now();
  const secret = (_tenant: string, name: string) => config.secrets.get(name)?.reveal();
  const memory = hostMemory({ store, agentSource, now, sha256 });
  const writing = { store, now, life: uniqueId(), maxTenantBytes: config.limits.tenantLogBytes };
  const [artifacts, longWork] = [createArtifactPort(writing), new LongWork(laterTurns)];
  const files = createArtifactFiles({ store, folders: runFolders(runFolder(config.data)) });
  const { lateResult } = ports;
  const outbound = outboundPorts(config, ports);
  const { cluster } = ports;
  const toolPorts = { artifacts, files, signIns, lateResult, now, traces, outbound, store, cluster };
  const hostTools = createHostTools(config, { tools, memory: memory.port, ...toolPorts });
  const models = hostModels(config, clock, tracedFetch(globalThis.fetch, traces));
  const prompts = new PromptRegistry(allPrompts(given, ports));
  const { credentials, registry } = models;
  const loop: LoopOptions = {
    sha256,
    prompts,
    models: registry,
    toolAccess: hostTools.access,
    mcp: hostTools.mcp.named,
    reasoningVerbosity: config.agents.reasoning.verbosity,
    reasoningTokenLimit: config.agents.reasoning.tokenLimit,
    lowConfidence: config.agents.lowConfidence,
    clarificationRounds: config.limits.clarificationRounds,
    isConformanceHost: extension.isUnderTest,
  };
  const conversations = createConversations(store.log);
  const turns = createModelPerformer({
    models: registry,
    conversations,
    credentials,
    clock,
    sha256,
  });
  const coordination = createCoordination(config, ports, models);
  const extraTypes = extension.nodeTypes({ prompts, sha256, defaultModel: defaultModelOf(models), loop });
  return {
    nodeTypes: [
      ...createAgentNodes(loop),
      createPeerNode(loop, namesOf(config.a2a.peers)),
      createSupervisor(loop),
      dispatch,
      editNode,
      ...extraTypes,
    ],
    performers: [
      hostTools.mcp.refreshing(withLargeTurns(turns, artifacts)),
      hostTools.mcp.finding(withLargeAnswers(hostTools.performer, { store, artifacts })),
      coordination.performer,
      createEditPerformer(writing),
      ...extension.performers({ memory: memory.memory, secret }),
    ],
    agents: hostTools.mcp.listing(memory.agentSource),
    prompts: createPromptSource({ registry: prompts, definitions: store.definitions, sha256, redactor }),
    served: { tools: hostTools, prompts, models },
    large: (step) => withLargeValues(step, { store, artifacts, longWork }),
    redefine: (app) => {
      coordination.redefine(app.agents);
      hostTools.redefine(app.tools);
      prompts.replace(allPrompts(app.prompts, ports));
    },
  };
}

/** Those of the program, of packs, and of an extension. */
const allPrompts = (
  given: readonly PromptTemplate[],
  { packPrompts, extension }: Pick<AgentRuntimePorts, 'packPrompts' | 'extension'>,
): readonly PromptTemplate[] => [...given, ...packPrompts, ...extension.prompts];

const namesOf = (peers: HostConfig['a2a']['peers']): readonly string[] => peers.map(({ name }) => name);

/** What calls to MCP servers and A2A peers use. */
const outboundPorts = (
  { hostId, peers }: IdentifiedConfig,
  { store, traces, report, address }: AgentRuntimePorts,
): HostToolsPorts['outbound'] => ({
  hostId,
  baseUrl: () => address.url,
  report,
  fetch: tracedFetch(patientFetch(globalThis.fetch), traces),
  traceHeaders: () => traces.headers(),
  isKnownHost: (url) => peers.some((peer) => new URL(peer.url).origin === new URL(url).origin),
  async depthOf(runId) {
    const [first] = await store.log.read({ runId, after: -1, limit: 1 });
    const event = first === undefined ? null : foldEventOf(first);
    return event?.type === 'run.started' ? (event.payload.depth ?? 0) : 0;
  },
});

/** Asks agents about the runs below them. Agents of the code may answer with a function. */
function createCoordination(config: HostConfig, ports: AgentRuntimePorts, { registry, credentials }: HostModels) {
  const { store, clock, agentSource, agents = [] } = ports;
  let own = hooksOf(agents);
  const performer = createCoordinatorPerformer({
    log: store.log,
    definitions: store.definitions,
    models: registry,
    credentials,
    clock,
    agents: agentSource,
    hookOf: (agentId, { packName }) => (packName === OWN_PACK ? own.get(agentId) : undefined),
    timeoutMs: config.agents.coordinatorTimeoutMs,
  });
  const redefine = (defined: readonly DefinedAgent[]): void => {
    own = hooksOf(defined);
  };
  return { performer, redefine };
}

const hooksOf = (agents: readonly DefinedAgent[]): ReadonlyMap<string, OnInputRequired> =>
  new Map(agents.flatMap(({ agentId, onInputRequired }) => (onInputRequired ? [[agentId, onInputRequired]] : [])));

/** The model for a node that names none. */
const defaultModelOf =
  ({ registry }: HostModels) =>
  () => {
    try {
      return registry.choose({ selection: { modelClass: 'general' } });
    } catch {
      return { provider: SCRIPTED, model: SCRIPTED };
    }
  };

/** The facts that discovery publishes about agents. */
export const agentFacts = (config: HostConfig, { isUnderTest }: HostExtension): AgentFacts => ({
  modelClasses: servedClasses(config.models),
  isLive: Object.keys(config.models.providers).length > 0,
  escalates: config.agents.lowConfidence === 'ask',
  providers: [...Object.keys(config.models.providers), SCRIPTED],
  byok: [...new Set(Object.values(config.credentials).map(({ provider }) => provider))],
  reasoning: config.agents.reasoning,
  costEstimates: Object.values(config.models.providers).some(({ models }) =>
    Object.values(models ?? {}).some(({ prices }) => prices !== undefined),
  ),
  memory: { maxEntryBytes: MAX_ENTRY_BYTES },
  limitsToolRate: config.tools.maxCallsPerMinute !== undefined,
  hasMcpTools: config.mcp.servers.length > 0,
  mockProviders: isUnderTest ? mockProviderIds : [],
});
