/** Task faces of agent events: streamed text, thoughts, tool calls, usage, handoffs. */
import type { PayloadOf } from '../events/catalogue.ts';
import type { EventOf, FoldEvent } from '../events/event.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { LARGE_VALUE } from '../large-values.ts';
import { clientToolNamed } from '../task-events/client-tools.ts';
import { isPlainAnswer, isThought } from './agents.ts';
import { own } from './dictionary.ts';
import type { RunView } from './run-view.ts';
import { blockOf } from './streams.ts';
import { errorInfo, type Failure, failureText } from './task-errors.ts';
import { restartFace, statusFace } from './task-status.ts';
import { isPrivateThought, thoughtIdAt } from './thoughts.ts';

/** The task face of an agent or model row; null for other types and for rows that the task view omits. */
export function agentFace(view: RunView, event: FoldEvent): JsonObject | null {
  switch (event.type) {
    case 'output.chunk':
      return content(view, event);
    case 'agent.reasoned':
      return thought(view, event);
    case 'agent.decided':
      return decision(view, event);
    case 'agent.toolCalled':
      return toolStart(view, event) ?? restartFace(view, event.payload, event.seq);
    case 'cairn.model.requested':
      return restartFace(view, event.payload, event.seq) ?? derivedFace(view, event);
    case 'cairn.model.returned':
    case 'runOrchestrator.decided':
      return derivedFace(view, event);
    case 'agent.toolReturned':
      return toolComplete(view, event);
    case 'cairn.tool.progress':
      return toolProgress(view, event);
    case 'provider.usage':
      return usage(view, event);
    case 'agent.handoff':
      return handoff(view, event);
    case 'cairn.error':
      return problem(view, event);
    default:
      return null;
  }
}

export function acting(view: RunView, event: FoldEvent): JsonObject {
  const agentId = own(view.nodeStates, event.nodeId ?? '')?.agentId ?? null;
  return agentId === null ? {} : { agentId };
}

function problem(view: RunView, event: EventOf<'cairn.error'>): JsonObject {
  const { scope } = event.payload;
  const info = errorInfo(event.payload, scope === 'tool' || scope === 'llm' ? scope : 'task');
  return { kind: 'error', ...event.payload, ...info, ...acting(view, event) };
}

function content(view: RunView, event: EventOf<'output.chunk'>): JsonObject | null {
  const { nodeId, chunk, isLast, channel = '', meta } = event.payload;
  if (isLast) return contentComplete(view, meta?.finishReason, event.payload.large);
  const block = blockOf(view, event.nodeId ?? nodeId, channel);
  if (block === undefined) return null;
  const { contentId, agentId } = block;
  const index = block.pieces - 1;
  return agentId === null
    ? { kind: 'content-delta', delta: chunk, index, contentId }
    : { kind: 'content-delta', delta: chunk, index, contentId, agentId };
}

/** Of a text that an artifact holds, its event shows this many characters, which fit however they are written. */
const MAX_SHOWN_UNITS = 65_536;

function contentComplete(
  { ended: block }: RunView,
  finishReason: string | undefined,
  large: JsonObject | undefined,
): JsonObject | null {
  if (block === null || typeof block === 'string' || 'askedAt' in block) return null;
  const metadata = {
    ...((block.cut || large !== undefined) && { truncated: true }),
    ...(large?.[LARGE_VALUE] !== undefined && { artifact: large[LARGE_VALUE] }),
  };
  return {
    kind: 'content-complete',
    content: large === undefined ? block.text : block.text.slice(0, MAX_SHOWN_UNITS).toWellFormed(),
    contentId: block.contentId,
    ...(finishReason !== undefined && { finishReason }),
    ...(block.agentId !== null && { agentId: block.agentId }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function thought(view: RunView, event: EventOf<'agent.reasoned'>): JsonObject | null {
  const reasoned = event.payload;
  if (!isThought(reasoned)) return null;
  const { agentId, reasoning, verbosity, thoughtType = 'reasoning', level } = reasoned;
  const { confidence, alternatives, relatedTo, visibility } = reasoned;
  const metadata = {
    ...(confidence !== undefined && { confidence }),
    ...(alternatives !== undefined && { alternatives }),
    ...(relatedTo !== undefined && { relatedTo }),
  };
  return {
    kind: 'thought-stream',
    thoughtId: thoughtIdAt(view, event.seq),
    thoughtType,
    verbosity: level ?? (verbosity === 'full' ? 'detailed' : 'normal'),
    content: reasoning,
    index: view.thoughts - 1,
    agentId,
    ...(isPrivateThought(view, { visibility, confidence }) && { visibility: 'operator' }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** A thought that follows from what the agent does. */
function derivedFace(view: RunView, event: FoldEvent): JsonObject | null {
  const { derived } = view;
  if (derived === null) return null;
  const { thoughtType, verbosity, content, metadata } = derived;
  const confidence = typeof metadata?.confidence === 'number' ? metadata.confidence : undefined;
  return {
    kind: 'thought-stream',
    thoughtId: thoughtIdAt(view, event.seq),
    thoughtType,
    verbosity,
    content,
    index: view.thoughts - 1,
    ...acting(view, event),
    ...(isPrivateThought(view, { confidence }) && { visibility: 'operator' }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** JSON inside a JSON string grows by escaping. The row itself holds the whole decision. */
const MAX_DECISION_UNITS = 65_536;

/** A decision appears as an actionable thought, so that a reviewer can recognise it. A plain answer is shown as content. */
function decision(view: RunView, event: EventOf<'agent.decided'>): JsonObject | null {
  if (isPlainAnswer(view, event)) return null;
  const { agentId, decision: decided, confidence } = event.payload;
  const content = typeof decided === 'string' ? decided : JSON.stringify(decided ?? null);
  const isCut = content.length > MAX_DECISION_UNITS;
  return {
    kind: 'thought-stream',
    thoughtId: thoughtIdAt(view, event.seq),
    thoughtType: 'decision',
    verbosity: 'normal',
    content: isCut ? `${content.slice(0, MAX_DECISION_UNITS)}…` : content,
    index: view.thoughts - 1,
    agentId,
    ...(isPrivateThought(view, { confidence }) && { visibility: 'operator' }),
    metadata: { ...(confidence !== undefined && { confidence }), actionable: true, ...(isCut && { truncated: true }) },
  };
}

/** A repeated call was shown before. */
function toolStart(view: RunView, event: EventOf<'agent.toolCalled'>): JsonObject | null {
  const called = event.payload;
  if (own(view.toolCalls, called.callId)?.seq !== event.seq) return null;
  return {
    kind: 'tool-start',
    toolCallId: called.callId,
    toolName: called.toolName,
    arguments: asObject(called.inputs ?? called.arguments),
    agentId: called.agentId,
    metadata: {
      provider: providerOf(called.toolName, called.transport),
      ...(own(view.nodeStates, event.nodeId ?? '')?.callsAtOnce === true && { concurrent: true }),
      cancelable: true,
      ...(called.attempt !== undefined && called.attempt > 1 && { attempt: called.attempt }),
    },
  };
}

/** The tool that calls a peer over A2A. The peer is also an agent of this host, under its name. */
const PEER_TOOL = 'a2a:';

const providerOf = (toolName: string, transport: string | undefined): string => {
  if (clientToolNamed(toolName) !== null) return 'client';
  if (toolName.startsWith(PEER_TOOL)) return `host:${toolName.slice(PEER_TOOL.length)}`;
  return transport === 'mcp' ? 'mcp' : 'local';
};

/** Arguments in the task view are objects; any other value is wrapped. */
const asObject = (value: Json | undefined): JsonObject => {
  if (value === undefined || value === null) return {};
  return isJsonObject(value) ? value : { value };
};

function toolProgress(view: RunView, event: EventOf<'cairn.tool.progress'>): JsonObject | null {
  const { callId, progress, message, attempt = 1 } = event.payload;
  if (!Object.hasOwn(view.toolCalls, callId)) return null;
  const metadata = { ...stepsOf(event.payload), ...(attempt > 1 && { attempt }) };
  return {
    kind: 'tool-progress',
    toolCallId: callId,
    progress,
    ...(message !== undefined && { message }),
    ...acting(view, event),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

const stepsOf = ({ step, stepsCompleted, stepsTotal, indeterminate, etaMs }: PayloadOf<'cairn.tool.progress'>) => ({
  ...(step !== undefined && { step }),
  ...(stepsCompleted !== undefined && { stepsCompleted }),
  ...(stepsTotal !== undefined && { stepsTotal }),
  ...(indeterminate !== undefined && { indeterminate }),
  ...(etaMs !== undefined && { etaMs }),
});

/** A refused call that never started appears as an error, because there is no `tool-start` to complete. */
function toolComplete(view: RunView, event: EventOf<'agent.toolReturned'>): JsonObject | null {
  const returned = event.payload;
  const { callId, toolName, agentId, error, status } = returned;
  if (view.ended !== 'tool-call') {
    if (status !== 'forbidden' && status !== 'rate_limited') return null;
    return { kind: 'error', ...refused(error, status, toolName), scope: 'tool', refId: callId, agentId };
  }
  const call = { kind: 'tool-complete', toolCallId: callId, toolName };
  const more = { agentId, ...completion(returned) };
  if (error === undefined && (status === undefined || status === 'ok')) {
    return { ...call, success: true, result: returned.outcome ?? returned.result ?? null, ...more };
  }
  const info = refused(error, status, toolName);
  return { ...call, success: false, error: failureText(info), errorInfo: info, ...more };
}

/** How long the call took, how often it was repeated after a crash, and whether its result is an earlier one. */
function completion({ durationMs, retries, reusedFrom }: PayloadOf<'agent.toolReturned'>): JsonObject {
  const metadata = {
    ...(durationMs !== undefined && { duration: durationMs }),
    ...(retries !== undefined && { retries }),
    ...(reusedFrom !== undefined && { cached: true }),
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

const refused = (error: Failure | undefined, status: string | undefined, toolName: string) =>
  errorInfo(error ?? { code: status ?? 'tool_failed', message: `The tool ${toolName} gave no result.` }, 'tool');

function usage(view: RunView, event: EventOf<'provider.usage'>): JsonObject {
  const used = event.payload;
  return {
    kind: 'llm-usage',
    model: used.model,
    inputTokens: used.inputTokens,
    outputTokens: used.outputTokens,
    totalTokens: used.totalTokens ?? used.inputTokens + used.outputTokens,
    ...(used.cacheReadTokens !== undefined && { cacheReadTokens: used.cacheReadTokens }),
    ...(used.cacheWriteTokens !== undefined && { cacheWriteTokens: used.cacheWriteTokens }),
    iteration: view.usage.calls,
    ...acting(view, event),
  };
}

/** A handoff moves control within the task. Work that returns a result is a subtask. */
function handoff(view: RunView, event: EventOf<'agent.handoff'>): JsonObject {
  const { fromAgentId, toAgentId, reason, context } = event.payload;
  if (typeof context?.subtaskId === 'string') {
    return {
      kind: 'subtask-created',
      subtaskId: context.subtaskId,
      agentId: toAgentId,
      prompt: typeof context.prompt === 'string' ? context.prompt : (reason ?? ''),
      ...(typeof context.toolCallId === 'string' && { toolCallId: context.toolCallId }),
    };
  }
  const shown = statusFace(view);
  const moved = { handoffFrom: fromAgentId, handoffTo: toAgentId, ...(reason !== undefined && { reason }) };
  return { ...shown, agentId: toAgentId, metadata: { ...shown.metadata, ...moved } };
}
