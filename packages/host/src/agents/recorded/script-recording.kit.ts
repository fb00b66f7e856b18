/** The record of a scripted run, as a bundle would have it; not shipped. */
import type { RunScript } from '../../../test/kit/run-script.ts';
import type { RunRecording } from './redecide-record.ts';

/** The script pins each agent by its name. */
export function recordingOf({ events, state, workflow }: RunScript): RunRecording {
  const bodies = new Map([['hash', JSON.stringify(workflow.definition)]]);
  for (const [agentId, definition] of workflow.agents) {
    const pin = state.agents[agentId];
    if (pin !== undefined) bodies.set(pin.hash, JSON.stringify(definition));
  }
  return {
    ...{ runId: state.runId, originRunId: state.runId, definitionHash: 'hash', fork: null },
    rows: events.map(({ seq, at, type, nodeId = null, cause = null, payload }) => ({
      ...{ seq, at, type, nodeId, cause },
      payload: JSON.stringify(payload),
    })),
    definition: (hash) => bodies.get(hash) ?? null,
  };
}
