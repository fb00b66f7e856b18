/** Tells the engine which rows open and close the calls of an agent. */
import { clientToolNamed, type FoldEvent } from '@cairn/protocol';
import { MODEL_PERFORMER, TOOL_PERFORMER } from '../../../engine/performer-ids.ts';
import type { RunChange } from '../../../engine/workflow/driven-calls.ts';

export function callChange(event: FoldEvent): RunChange | null {
  switch (event.type) {
    case 'cairn.model.requested': {
      const { callId, attempt, safety, recoveries = 0 } = event.payload;
      return { kind: 'call-opened', call: { callId, attempt, safety, recoveries, step: MODEL_PERFORMER } };
    }
    case 'agent.toolCalled': {
      const { callId, toolName, toolId = toolName, attempt = 1, safety = 'write', recoveries = 0 } = event.payload;
      // The client executes it; no performer is called.
      if (clientToolNamed(toolId) !== null) return null;
      return { kind: 'call-opened', call: { callId, attempt, safety, recoveries, step: TOOL_PERFORMER } };
    }
    case 'cairn.model.returned':
    case 'cairn.model.abandoned':
    case 'agent.toolReturned':
      return { kind: 'call-closed', callId: event.payload.callId, attempt: event.payload.attempt ?? 0 };
    default:
      return null;
  }
}
