/** How branches and replays read the rows of an agent's calls in a record. */
import type { FoldEvent, PayloadOf } from '@cairn/protocol';
import type { RecordedCalls, RecordedReturn } from '../../../engine/fork/recorded-calls.ts';
import { MODEL_PERFORMER } from '../../../engine/performer-ids.ts';
import { canonicalText } from '../../../engine/values/canonical.ts';
import { requestKeyOf } from '../../models/cache-key.ts';
import type { ModelRequest, Turn } from '../../models/turn.ts';
import type { ToolCallInput } from '../../tools/tool.ts';

const toolKey = (toolId: string, argsHash: string): string => `tool ${toolId} ${argsHash}`;

export const recordedCalls: RecordedCalls = {
  namesOf({ step }, input) {
    if (step !== MODEL_PERFORMER) return ['tool:*', `tool:${(input as ToolCallInput).toolId}`];
    const { provider = '', model = '' } = (input as ModelRequest).selection;
    return ['model:*', `model:${model}`, `model:${provider}/${model}`];
  },
  /** The request of a model turn is complete only in its performer. */
  keyOf({ step }, input, sha256) {
    if (step === MODEL_PERFORMER) return null;
    const { toolId, input: args } = input as ToolCallInput;
    return toolKey(toolId, sha256(canonicalText(args), 'hex'));
  },
  request(event) {
    if (event.type !== 'agent.toolCalled') return null;
    const { callId, toolName, toolId = toolName, argsHash = '' } = event.payload;
    return { callId, key: toolKey(toolId, argsHash) };
  },
  returned(event) {
    if (event.type === 'cairn.model.returned') return modelReturn(event.payload);
    return event.type === 'agent.toolReturned' ? toolReturn(event.payload) : null;
  },
  withoutPieces({ type, payload }) {
    if (type !== 'cairn.model.returned' || payload.turn === undefined) return payload;
    return { ...payload, turn: unstreamed(payload.turn) };
  },
  isRefusal,
};

function modelReturn({ callId, turn }: PayloadOf<'cairn.model.returned'>): RecordedReturn {
  if (turn === undefined) return { callId, result: null };
  return { callId, key: requestKeyOf(turn.cacheKey), result: { outcome: { turn: unstreamed(turn) } } };
}

const toolReturn = ({ callId, status, outcome }: PayloadOf<'agent.toolReturned'>): RecordedReturn => ({
  callId,
  result: status === 'ok' && outcome !== undefined ? { given: outcome } : null,
});

/** No piece of the answer is streamed again, so that its last chunk carries all of the text. */
const unstreamed = (turn: Turn): Turn => ({ ...turn, chunks: 0, tail: turn.text });

/** The first row of a refused turn that differs is the end of its text, if it has one, or the end of the invocation. */
function isRefusal(event: FoldEvent): boolean {
  switch (event.type) {
    case 'agent.invocation.completed':
      return event.payload.outcome === 'refused';
    case 'output.chunk':
      return event.payload.meta?.finishReason === 'content_filter';
    case 'node.failed':
      return event.payload.error?.code === 'model_refused';
    default:
      return false;
  }
}
