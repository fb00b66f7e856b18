/** Whether an attempt of a branch takes a recorded result of the source, by the rules of the branch. */
import { type JsonObject, TerminalError } from '@cairn/protocol';
import type { OpenCall, RunState } from '../core/state.ts';
import type { Sha256 } from '../ports.ts';
import type { Workflow } from '../workflow/node-type.ts';
import { useOf } from './call-rules.ts';
import { hasSource, MAX_REUSED } from './fork-state.ts';
import type { RecordedResult, RecordedResults } from './recorded-results.ts';
import { keyOfCall } from './request-keys.ts';

export interface Reuse {
  /** The recorded result of the call itself; null if only its performer knows the key, or the source made no such request. */
  own(): Promise<RecordedResult | null>;
  /** The recorded result of a request whose key its performer knows. */
  find(key: string): Promise<RecordedResult | null>;
}

export interface ReusePorts {
  readonly sha256: Sha256;
  readonly recorded: RecordedResults;
}

export interface ReusedCall {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly call: OpenCall;
  readonly input: JsonObject;
}

/** Returns null if the call is made live. */
export function reuseOf(ports: ReusePorts, { state, workflow, call, input }: ReusedCall): Reuse | null {
  const { fork } = state;
  if (fork === undefined || useOf(fork, workflow, { call, input }) !== 'reuse' || fork.reused.length >= MAX_REUSED)
    return null;
  // Its recorded outputs are references to values that the branch does not have.
  if (workflow.nodes.get(call.nodeId)?.node.outputSensitivity !== undefined) return null;
  const isConfirmed = Object.hasOwn(fork.verdicts, call.callId);
  if (!hasSource(fork) && !isConfirmed) return null;
  const found = async (key: string): Promise<RecordedResult | null> => {
    const result = hasSource(fork) ? await ports.recorded.find(fork, { workflow, key, callId: call.callId }) : null;
    if (result === null && isConfirmed) throw nothingRecorded(call, fork.sourceRunId);
    return result;
  };
  const key = keyOfCall(call, input, { workflow, sha256: ports.sha256 });
  return { own: () => (key === null ? Promise.resolve(null) : found(key)), find: found };
}

/** A person decided to take the recorded result, so the call is not made instead. */
const nothingRecorded = ({ callId, step }: OpenCall, sourceRunId: string | null): TerminalError =>
  new TerminalError('replay_source_missing', {
    message: `${sourceRunId === null ? 'A run that a branch started' : `Run ${sourceRunId}`} has no recorded result for this request of ${step} (${callId}).`,
    hint: 'Answer "run" to make the call, or "use" with a result.',
    details: { callId, ...(sourceRunId === null ? {} : { sourceRunId }) },
  });
