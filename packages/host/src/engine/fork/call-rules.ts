/** Which rule of a branch decides about a call. */
import type { CallUse, JsonObject } from '@cairn/protocol';
import type { OpenCall } from '../core/state.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import type { Workflow } from '../workflow/node-type.ts';
import type { ForkState } from './fork-state.ts';
import { recordedBy } from './recorded-by.ts';

/** A call that is about to be made. */
interface MadeCall {
  readonly call: Pick<OpenCall, 'step' | 'nodeId' | 'callId' | 'requestedSeq'>;
  readonly input: JsonObject;
}

/** Calls of the source that were open at the cut count as calls after it: their request is written again. */
export function useOf(fork: ForkState, workflow: Workflow, { call, input }: MadeCall): CallUse {
  // A child run is forked with its parent; it is never taken from a record.
  if (call.step === CHILD_PERFORMER || call.requestedSeq <= fork.seq) return 'live';
  const verdict = Object.hasOwn(fork.verdicts, call.callId) ? fork.verdicts[call.callId] : undefined;
  if (verdict !== undefined) return verdict;
  const names = recordedBy(workflow, call.nodeId)?.namesOf(call, input) ?? ['step:*', `step:${call.step}`];
  return fork.rules.find(({ calls }) => calls === '*' || names.includes(calls))?.use ?? 'live';
}

/** Whether any rule asks a person, so that most decisions of a branch need not look at its calls. */
export const asksPeople = ({ rules }: ForkState): boolean => rules.some(({ use }) => use === 'ask');
