/** The keys by which a branch recognises a request of its source: equal requests have equal keys. */
import { foldEventOf, isCallRequest, isCallResult, type Json, type JsonObject } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { OpenCall } from '../core/state.ts';
import { inputOfStep } from '../nodes/step-node.ts';
import type { Sha256 } from '../ports.ts';
import { canonicalText } from '../values/canonical.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import type { Workflow } from '../workflow/node-type.ts';
import { recordedBy } from './recorded-by.ts';
import type { RecordedReturn } from './recorded-calls.ts';

const stepKey = (typeId: string, input: Json, sha256: Sha256): string =>
  `step ${typeId} ${sha256(canonicalText(input), 'hex')}`;

/** The key of a call that is about to be made; null if only its performer knows it. */
export function keyOfCall(
  call: Pick<OpenCall, 'step' | 'nodeId'>,
  input: JsonObject,
  { workflow, sha256 }: { readonly workflow: Workflow; readonly sha256: Sha256 },
): string | null {
  const recorded = recordedBy(workflow, call.nodeId);
  return recorded === undefined ? stepKey(call.step, input, sha256) : recorded.keyOf(call, input, sha256);
}

/** Reads the rows of a source in their order, and gives the key of the request that a row answers successfully. */
export function requestKeys(sha256: Sha256, workflow: Workflow): { of(row: Row): string | null } {
  /** The keys of open calls, and the inputs of started nodes. Bounded by what a run has open. */
  const open = new Map<string, string>();
  const inputs = new Map<string, JsonObject>();
  const requested = (row: Row): void => {
    const event = foldEventOf(row);
    const request = recordedBy(workflow, row.nodeId)?.request(event) ?? null;
    if (request !== null) open.set(request.callId, request.key);
    if (event.type !== 'cairn.step.requested') return;
    const { callId, step } = event.payload;
    const node = row.nodeId === null ? undefined : workflow.nodes.get(row.nodeId);
    if (node === undefined || node.type.typeId !== step) return;
    open.set(callId, stepKey(step, inputOfStep(node.node, inputs.get(node.id) ?? {}), sha256));
  };
  const returned = (row: Row): string | null => {
    const found = returnIn(row, workflow);
    if (found === null) return null;
    const key = found.key ?? open.get(found.callId) ?? null;
    open.delete(found.callId);
    return found.result === null ? null : key;
  };
  const of = (row: Row): string | null => {
    if (isCallResult(row.type)) return returned(row);
    if (isCallRequest(row.type)) requested(row);
    if (row.type !== 'node.started' || row.nodeId === null) return null;
    const event = foldEventOf(row);
    inputs.set(row.nodeId, (event.type === 'node.started' ? event.payload.inputs : undefined) ?? {});
    return null;
  };
  return { of };
}

/** The result in a row, as a performer gives it. */
export const resultIn = (row: Row, workflow: Workflow): CallResult | null =>
  isCallResult(row.type) ? (returnIn(row, workflow)?.result ?? null) : null;

/** What a call records on the way, and the end of a child run, are no results of a request. */
function returnIn(row: Row, workflow: Workflow): RecordedReturn | null {
  const event = foldEventOf(row);
  if (event.type !== 'cairn.step.returned') return recordedBy(workflow, row.nodeId)?.returned(event) ?? null;
  const { callId, outcome, of: part, childRunId } = event.payload;
  if (part !== undefined || childRunId !== undefined) return null;
  return { callId, result: outcome === undefined ? null : { given: outcome } };
}
