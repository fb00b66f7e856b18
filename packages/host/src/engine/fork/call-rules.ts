/** Which rule of a branch decides about a call. */
import { type CallUse, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { OpenCall } from '../core/state.ts';
import { CHILD_PERFORMER, MODEL_PERFORMER, TOOL_PERFORMER } from '../performer-ids.ts';
import type { ForkState } from './fork-state.ts';

/** Calls of the source that were open at the cut count as calls after it: their request is written again. */
export function useOf(
  fork: ForkState,
  call: Pick<OpenCall, 'step' | 'callId' | 'requestedSeq'>,
  input: JsonObject,
): CallUse {
  // A child run is forked with its parent; it is never taken from a record.
  if (call.step === CHILD_PERFORMER || call.requestedSeq <= fork.seq) return 'live';
  const verdict = Object.hasOwn(fork.verdicts, call.callId) ? fork.verdicts[call.callId] : undefined;
  if (verdict !== undefined) return verdict;
  const names = namesOf(call.step, input);
  return fork.rules.find(({ calls }) => names.includes(calls))?.use ?? 'live';
}

/** Every way to name the call in a rule. */
function namesOf(step: string, input: JsonObject): readonly string[] {
  if (step === TOOL_PERFORMER) return ['*', 'tool:*', `tool:${textOf(input.toolId)}`];
  if (step !== MODEL_PERFORMER) return ['*', 'step:*', `step:${step}`];
  const { provider, model } = isJsonObject(input.selection) ? input.selection : {};
  return ['*', 'model:*', `model:${textOf(model)}`, `model:${textOf(provider)}/${textOf(model)}`];
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Whether any rule asks a person, so that most decisions of a branch need not look at its calls. */
export const asksPeople = ({ rules }: ForkState): boolean => rules.some(({ use }) => use === 'ask');
