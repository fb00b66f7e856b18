/** The call of the host itself that writes an artifact: no tool and no agent of a program. */
import type { ArtifactCall } from '../../agents/tools/artifact-port.ts';
import type { CallContext } from '../../engine/ports.ts';

export const HOST_AGENT = 'core.system';

export const hostCall = (call: CallContext): ArtifactCall => ({
  runId: call.runId,
  contextId: call.contextId,
  tenant: call.tenant,
  nodeId: call.nodeId,
  callId: call.callId,
  agentId: HOST_AGENT,
  isToolCall: false,
  redactor: call.redactor,
  async record(rows) {
    await call.emit(rows);
    await call.recorded();
  },
});
