/** A step as a node: its function is an effect, asked for by a row and ended by the row that records its result. */

import type { JsonObject } from '@cairn/protocol';
import { callIdOf } from '../core/evolve/calls.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import { stepRequested } from '../core/step-rows.ts';
import type { Step } from '../ports.ts';
import { plainJsonCopy } from '../values/json-copy.ts';
import { defineNodeType, type NodeType, type Workflow } from '../workflow/node-type.ts';
import { anyConfig } from './config-fields.ts';
import { passedOn } from './values.ts';

/** The node's configuration overlaid with its inputs, as a copy: what the function does to it must not reach the run. */
export function stepInput(state: RunState, workflow: Workflow, { nodeId }: OpenCall): JsonObject {
  const config = workflow.nodes.get(nodeId)?.node.config ?? {};
  const inputs = passedOn(state.active[nodeId]?.inputs ?? {});
  const input = { ...config, ...inputs };
  return (plainJsonCopy(input) ?? JSON.parse(JSON.stringify(input))) as JsonObject;
}

/** Its function checks what it gets, config and inputs in one; so any config is one. */
export const stepNode = ({ typeId, safety }: Pick<Step, 'typeId' | 'safety'>): NodeType =>
  defineNodeType({
    typeId,
    safety,
    config: anyConfig,
    begin({ node, visit, callAttempts }) {
      const callId = callIdOf(node.id, visit);
      const call = { callId, nodeId: node.id, step: typeId, safety, attempt: callAttempts + 1 };
      return { kind: 'wait', drafts: [stepRequested(call)], effects: [{ kind: 'step', callId }] };
    },
  });
