/**
 * Drives a node that calls one tool of an MCP server. It writes the rows of an agent's tool call, so that everything that
 * holds for those holds here: who may call, questions, cancellation, interrupted calls, replays.
 */
import { type FoldEvent, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { RunError } from '../../engine/core/state.ts';
import type { AttemptPlace } from '../../engine/workflow/driven-calls.ts';
import type { ConfiguredNode, DrivenContext, NodeAction, NodeDriver } from '../../engine/workflow/node-type.ts';
import type { AgentConfig } from '../loop/agent-config.ts';
import { budgetElsewhere } from '../loop/calls/call-budget.ts';
import { placeOf, toolCallId, turnId } from '../loop/calls/call-ids.ts';
import { callChange } from '../loop/calls/call-rows.ts';
import { cancelledCall, clientAnswer } from '../loop/calls/client-calls.ts';
import { recordedCalls } from '../loop/calls/recorded-calls.ts';
import { accessIn } from '../loop/calls/tool-access.ts';
import { callAgain, goOnWithCalls, judgeCall, refusal, toolReturned } from '../loop/calls/tool-calls.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { toolCalledRow, toolReturnedRow } from '../loop/rows.ts';
import { principalOf } from '../loop/settings.ts';
import { exceeds, MAX_ARGUMENT_BYTES } from '../loop/sizes.ts';
import { evolveLoop } from '../loop/state/evolve-loop.ts';
import { callsOf, freshLoop, type LoopState, noStream, openInvocation } from '../loop/state/loop-state.ts';
import { abandonedCalls } from '../loop/stopped.ts';
import type { Turn } from '../models/turn.ts';
import type { ToolCallInput } from '../tools/tool.ts';
import { MCP_SCOPE, type ToolLookup } from '../tools/tool-registry.ts';
import type { ToolCallConfig } from './tool-config.ts';

/** The state of a loop without a model, and how its one call ended. */
export interface ToolNodeState extends LoopState {
  ended: { readonly value: Json } | { readonly error: RunError } | null;
}

/** The settings of a tool node, or of a prompt node that calls a tool. */
type ToolNodeConfig = AgentConfig & CallSettings;

type CallSettings = { readonly [Name in keyof ToolCallConfig]?: ToolCallConfig[Name] | undefined };

type Context = DrivenContext<ToolNodeState, ToolNodeConfig>;

/** Calls of a node that names no agent are those of the host. */
const NO_AGENT = 'core.system';

export function createToolDriver(options: LoopOptions): NodeDriver<ToolNodeState, ToolNodeConfig> {
  return {
    fresh,
    runChange: callChange,
    recorded: recordedCalls,
    evolve,
    next: (context) => nextOf(context, options),
    callInput: (context) => inputOf(context, options),
    about(context) {
      const { toolId, agentId, input } = inputOf(context, options);
      return { tool: toolId, agentId, inputs: input };
    },
    returned: (context, call, result) => toolReturned(context, call, result, options),
    again: (context, call) => [callAgain(context.node.id, call)],
    answer: clientAnswer,
    cancelled: cancelledCall,
    stopped: (context) => abandonedCalls(context, openInvocation(context.inner)),
    hasWritten: ({ writes }) => writes > 0,
  };
}

/** Stands for the turn of a model, which the call would belong to. */
const noTurn: Turn = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finish: 'tool_calls',
  usage: { inputTokens: 0, outputTokens: 0 },
  provider: '',
  model: '',
  cacheKey: '',
  chunks: 0,
  tail: '',
  specification: '',
};

const fresh = ({ node: { agent } }: ConfiguredNode): ToolNodeState => ({
  ...freshLoop(),
  ended: null,
  invocation: {
    id: '',
    agentId: agent?.agentId ?? NO_AGENT,
    startedSeq: 0,
    provider: '',
    model: '',
    task: null,
    messages: [],
    characters: 0,
    turns: 0,
    repairs: 0,
    stream: noStream(),
    stage: { kind: 'turn', turn: noTurn },
  },
});

function evolve(inner: ToolNodeState, event: FoldEvent, place: AttemptPlace): void {
  if (event.type === 'agent.toolReturned') {
    const { error, outcome = null } = event.payload;
    inner.ended = error === undefined ? { value: outcome } : { error };
  }
  evolveLoop(inner, event, place);
}

function nextOf(context: Context, options: LoopOptions): NodeAction | null {
  const { inner } = context;
  if (inner.ended !== null) return endOf(inner, inner.ended);
  const { stage } = openInvocation(inner);
  if (stage.kind === 'tools') return goOnWithCalls(context, stage);
  return stage.kind === 'turn' ? call(context, options) : null;
}

/** The result is third-party text, and readers of the outputs are told so. */
function endOf({ writes }: ToolNodeState, ended: NonNullable<ToolNodeState['ended']>): NodeAction {
  if ('value' in ended) return { kind: 'complete', outputs: { result: ended.value, contentTrust: 'untrusted' } };
  const { error } = ended;
  return { kind: 'fail', error: { ...error, retryable: error.retryable === true && writes === 0 } };
}

/** The call is the first of the first turn that an agent would have made. */
const onlyTurn = (context: Context): string => turnId(placeOf(context), 0);

function call(context: Context, options: LoopOptions): NodeAction {
  const { node, inner, state } = context;
  const toolId = toolIdOf(context, options);
  if (toolId === null) return { kind: 'fail', error: noServer(node.id, options) };
  const { agentId } = openInvocation(inner);
  const input = argumentsOf(context);
  const callId = toolCallId(onlyTurn(context), 0);
  const called = { agentId, toolId, callId, input, principal: principalOf(context) };
  const judged = judgedCall(context, toolId, options);
  if ('end' in judged) {
    const shown = { ...called, input: judged.input, safety: 'pure' as const };
    const returned = { agentId, toolId, callId, attempt: 1, calledSeq: state.nextSeq };
    return {
      kind: 'wait',
      drafts: [toolCalledRow(node.id, shown, options.sha256), toolReturnedRow(node.id, returned, judged.end)],
    };
  }
  const { safety, rule } = judged;
  const draft = toolCalledRow(node.id, { ...called, safety, rule }, options.sha256);
  return { kind: 'wait', drafts: [draft], effects: [{ kind: 'step', callId }] };
}

/**
 * The node itself is the list of tools that it may call. The other rules hold. A tool that is not listed yet is looked for
 * when it is called.
 */
function judgedCall(context: Context, toolId: string, options: LoopOptions) {
  const access = accessIn(context, [toolId], options);
  const known = access.registry;
  const find = (name: string) => known.called(name) ?? options.mcp?.unlisted(name);
  const registry: ToolLookup = {
    all: known.all,
    get: find,
    called: find,
    nameOf: (id) => known.nameOf(id),
  };
  const input = argumentsOf(context);
  if (exceeds(input, MAX_ARGUMENT_BYTES)) {
    const why = `The arguments have more than ${MAX_ARGUMENT_BYTES} bytes of JSON.`;
    return { input: null, end: refusal('tool_invalid_arguments', why) };
  }
  return judgeCall({ ...access, registry }, { id: '', name: toolId, input }, 0);
}

/** The settings of the call, for both kinds of nodes. */
const settingsOf = ({ mcp, ...own }: ToolNodeConfig): CallSettings =>
  mcp === undefined ? own : { ...mcp, toolName: mcp.tool };

function toolIdOf({ node, config }: Pick<Context, 'node' | 'config'>, { mcp }: LoopOptions): string | null {
  const { serverId = mcp?.serverOf(node.id) ?? null, toolName } = settingsOf(config);
  return serverId === null ? null : `${MCP_SCOPE}${serverId}/${toolName}`;
}

/** Inputs come before settings. What an edge passes on without a name is no argument. */
function argumentsOf({ config, inputs }: Pick<Context, 'config' | 'inputs'>): JsonObject {
  const { arguments: set = {} } = settingsOf(config);
  const { input: _, arguments: given, ...named } = inputs;
  return { ...set, ...(isJsonObject(given) ? given : {}), ...named };
}

/** The tool is that of the recorded call: the servers of a host may change. */
function inputOf(context: Context, options: LoopOptions): ToolCallInput {
  const { agentId, ...invocation } = openInvocation(context.inner);
  const [open] = callsOf({ agentId, ...invocation });
  const { timeoutMs } = settingsOf(context.config);
  const toolId = open?.toolId ?? toolIdOf(context, options) ?? '';
  return {
    toolId,
    input: argumentsOf(context),
    agentId,
    turnId: onlyTurn(context),
    records: open?.records ?? [],
    principal: principalOf(context),
    ...budgetElsewhere(context, toolId),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

const noServer = (nodeId: string, { mcp }: LoopOptions): RunError => ({
  code: 'config_validation_failed',
  message: `Node ${nodeId} names no MCP server, and this host has ${mcp?.serverCount() ?? 0}. Set serverId.`,
  retryable: false,
});
