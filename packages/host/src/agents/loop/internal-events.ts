/**
 * Rows that let operators watch the loop stage by stage. A run that was started without them writes none; the choice is
 * part of its first event, so a replay decides the same rows.
 */
import { row } from '@cairn/protocol';
import type { Draft } from '../../engine/core/state.ts';
import type { DrivenContext } from '../../engine/workflow/node-type.ts';
import type { Turn } from '../models/turn.ts';
import type { Invocation, LoopState, ToolCall } from './state/loop-state.ts';

type Context = Pick<DrivenContext<LoopState>, 'node' | 'inner' | 'state'>;
type Stage = 'pre-llm' | 'post-llm' | 'pre-tool' | 'post-tool';

/** An invocation that may be about to start: then nothing was said in it. */
export type Asking = Pick<Invocation, 'agentId' | 'provider' | 'model' | 'turns'> &
  Partial<Pick<Invocation, 'messages' | 'stage' | 'toolCount'>>;

const isWatched = ({ state }: Context): boolean => state.view.internalEvents === true;

/** Before a request to the model. `notes` counts the messages that the loop itself adds to it. */
export function modelAsked(context: Context, invocation: Asking, notes: number): Draft[] {
  if (!isWatched(context)) return [];
  const { messages = [], stage, model, toolCount = 0 } = invocation;
  const isRepeated = stage?.kind === 'model';
  const iteration = context.inner.turns + (isRepeated ? 0 : 1);
  // The results of the last turn become messages when the request is folded. The first message is the task.
  const results = stage !== undefined && 'turn' in stage ? stage.turn.toolCalls.length : 0;
  const messageCount = 1 + messages.length + results + notes;
  const nodeId = context.node.id;
  return [
    thought(context, {
      iteration,
      stage: 'pre-llm',
      reasoning: isRepeated ? 'Ask the model again.' : 'Ask the model.',
    }),
    row('cairn.internal.llm_call', { iteration, model, messageCount, toolCount }, { nodeId }),
  ];
}

/** After an answer of the model. A turn without calls ends its iteration. */
export function modelAnswered(context: Context, turn: Turn, tools: readonly string[]): Draft[] {
  if (!isWatched(context)) return [];
  const iteration = context.inner.turns;
  const names = turn.toolCalls.map(({ name }) => name);
  const said = names.length === 0 ? 'The model answers.' : `The model calls ${names.join(', ')}.`;
  const answered = thought(context, { iteration, stage: 'post-llm', reasoning: said });
  return tools.length === 0
    ? [answered, checkpoint(context, iteration)]
    : [answered, thought(context, { iteration, stage: 'pre-tool', reasoning: `Call ${tools.join(', ')}.` })];
}

/** After the last call of a turn: the iteration is complete, and a restart goes on after it. */
export function toolsReturned(context: Context, calls: readonly ToolCall[]): Draft[] {
  if (!isWatched(context)) return [];
  const iteration = context.inner.turns;
  const ends = calls.map(
    ({ toolId, progress }) => `${toolId} ${progress.kind === 'done' && progress.isError ? 'failed' : 'returned'}`,
  );
  return [
    thought(context, { iteration, stage: 'post-tool', reasoning: `${ends.join(', ')}.` }),
    checkpoint(context, iteration),
  ];
}

const checkpoint = ({ node }: Context, iteration: number): Draft =>
  row('cairn.internal.checkpoint', { iteration }, { nodeId: node.id });

/** The names of tools come from the model, which may call hundreds. */
const MAX_REASONING = 1_000;

function thought(
  { node, inner }: Context,
  { iteration, stage, reasoning }: { readonly iteration: number; readonly stage: Stage; readonly reasoning: string },
): Draft {
  const { invocations, toolCalls, tokens, costUsd } = inner;
  const isCut = reasoning.length > MAX_REASONING;
  const said = isCut ? `${reasoning.slice(0, MAX_REASONING).toWellFormed()}…` : reasoning;
  const state = { invocations, toolCalls, tokens, costUsd };
  return row('cairn.internal.thought', { iteration, stage, reasoning: said, state }, { nodeId: node.id });
}
