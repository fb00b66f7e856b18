/** The node type of a step. A row requests the call of its function, and another row records the result. */

import type { JsonObject, WorkflowNode } from '@cairn/protocol';
import { callIdOf } from '../core/evolve/calls.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import { stepRequested } from '../core/step-rows.ts';
import type { Step } from '../ports.ts';
import { plainJsonCopy } from '../values/json-copy.ts';
import { defineNodeType, type NodeType, type Workflow } from '../workflow/node-type.ts';
import { anyConfig } from './config-fields.ts';
import { passedOn } from './values.ts';

/** A copy, so that changes that the function makes do not affect the run. */
export function stepInput(state: RunState, workflow: Workflow, { nodeId }: OpenCall): JsonObject {
  const input = inputOfStep(workflow.nodes.get(nodeId)?.node, state.active[nodeId]?.inputs ?? {});
  return (plainJsonCopy(input) ?? JSON.parse(JSON.stringify(input))) as JsonObject;
}

/** The node's config, overridden by its inputs. */
export const inputOfStep = (node: WorkflowNode | undefined, inputs: JsonObject): JsonObject => ({
  ...node?.config,
  ...passedOn(inputs),
});

/** Accepts any config: the step validates config and inputs together as its input. */
export const stepNode = ({ typeId, safety }: Pick<Step, 'typeId' | 'safety'>): NodeType =>
  defineNodeType({
    typeId,
    safety,
    config: anyConfig,
    begin({ node, visit, callAttempts, state }) {
      const callId = callIdOf(state, node.id, visit);
      const call = { callId, nodeId: node.id, step: typeId, safety, attempt: callAttempts + 1 };
      return { kind: 'wait', drafts: [stepRequested(call)], effects: [{ kind: 'step', callId }] };
    },
  });
