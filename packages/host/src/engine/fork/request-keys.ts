/** The keys by which a branch recognises a request of its source: equal requests have equal keys. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import type { OpenCall } from '../core/state.ts';
import { inputOfStep } from '../nodes/step-node.ts';
import { MODEL_PERFORMER, TOOL_PERFORMER } from '../performer-ids.ts';
import type { Sha256 } from '../ports.ts';
import { canonicalText } from '../values/canonical.ts';
import type { Workflow } from '../workflow/node-type.ts';

/** The performer of a model turn computes the cache key of its request (wire recipe `spec-rfc-0041`). */
export const modelKey = (cacheKey: string): string => `model ${cacheKey}`;

const toolKey = (toolId: string, argsHash: string): string => `tool ${toolId} ${argsHash}`;

const stepKey = (typeId: string, input: Json, sha256: Sha256): string =>
  `step ${typeId} ${sha256(canonicalText(input), 'hex')}`;

/** The key of a call that is about to be made; null for a model turn, whose performer knows it. */
export function keyOfCall({ step }: Pick<OpenCall, 'step'>, input: JsonObject, sha256: Sha256): string | null {
  if (step === MODEL_PERFORMER) return null;
  if (step !== TOOL_PERFORMER) return stepKey(step, input, sha256);
  return toolKey(textOf(input.toolId), sha256(canonicalText(input.input ?? null), 'hex'));
}

/** Reads the rows of a source in their order, and gives the key of the request that a row answers successfully. */
export function requestKeys(sha256: Sha256, workflow: Workflow): { of(row: Row): string | null } {
  /** The keys of open calls, and the inputs of started nodes. Bounded by what a run has open. */
  const open = new Map<string, string>();
  const inputs = new Map<string, JsonObject>();
  const answered = (callId: string): string | null => {
    const key = open.get(callId) ?? null;
    open.delete(callId);
    return key;
  };
  const of = (row: Row): string | null => {
    switch (row.type) {
      case 'node.started': {
        const { inputs: given } = payloadOf(row);
        if (row.nodeId !== null) inputs.set(row.nodeId, isJsonObject(given) ? given : {});
        return null;
      }
      case 'agent.toolCalled': {
        const { callId, toolId, argsHash } = payloadOf(row);
        open.set(textOf(callId), toolKey(textOf(toolId), textOf(argsHash)));
        return null;
      }
      case 'cairn.step.requested': {
        const { callId, step } = payloadOf(row);
        const node = row.nodeId === null ? undefined : workflow.nodes.get(row.nodeId);
        if (node === undefined || node.type.typeId !== step) return null;
        open.set(textOf(callId), stepKey(step, inputOfStep(node.node, inputs.get(node.id) ?? {}), sha256));
        return null;
      }
      case 'agent.toolReturned': {
        const { callId, status } = payloadOf(row);
        const key = answered(textOf(callId));
        return status === 'ok' ? key : null;
      }
      case 'cairn.step.returned': {
        const { callId, outcome, of: tool, childRunId } = payloadOf(row);
        if (tool !== undefined || childRunId !== undefined) return null;
        const key = answered(textOf(callId));
        return outcome === undefined ? null : key;
      }
      case 'cairn.model.returned': {
        const { turn } = payloadOf(row);
        return isJsonObject(turn) ? modelKey(textOf(turn.cacheKey)) : null;
      }
      default:
        return null;
    }
  };
  return { of };
}

function payloadOf({ payload }: Row): JsonObject {
  const parsed: JsonObject = JSON.parse(payload);
  return parsed;
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
