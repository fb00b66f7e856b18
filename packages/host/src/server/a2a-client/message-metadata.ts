/** What a message says about its sender: the trace that it belongs to, and the run that causes it. */
import type { JsonObject } from '@cairn/protocol';
import { type CallCause, type CallOrigin, causeOf } from '../peers/call-origin.ts';

export async function messageMetadata(origin: CallOrigin, cause: CallCause): Promise<JsonObject> {
  const { traceparent, tracestate } = await origin.traceHeaders();
  const causation = await causeOf(cause, origin);
  const { agentId: callerAgentId } = cause;
  return {
    openwop: {
      callerAgentId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(tracestate === undefined ? {} : { tracestate }),
      ...(causation === null ? {} : { causation: { ...causation } }),
    },
  };
}
