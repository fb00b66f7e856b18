/** What a message says about its sender: the trace that it belongs to, the run that causes it, and what is left of its budget. */
import { BUDGET_KEY, type CallBudget, type JsonObject } from '@cairn/protocol';
import { type CallCause, type CallOrigin, causeOf } from '../peers/call-origin.ts';

interface Sender extends CallCause {
  readonly budget: CallBudget | undefined;
}

export async function messageMetadata(origin: CallOrigin, cause: Sender, tellsBudget: boolean): Promise<JsonObject> {
  const { traceparent, tracestate } = await origin.traceHeaders();
  const causation = await causeOf(cause, origin);
  const { agentId: callerAgentId, budget } = cause;
  return {
    openwop: {
      callerAgentId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(tracestate === undefined ? {} : { tracestate }),
      ...(causation === null ? {} : { causation: { ...causation } }),
    },
    ...(budget !== undefined && tellsBudget ? { [BUDGET_KEY]: budget } : {}),
  };
}
