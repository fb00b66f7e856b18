/** A step as a node: its function is an effect, asked for by a row and ended by the row that records its result. */

import type { NodeType } from '../compiled.ts';
import { callIdOf } from '../evolve-facts.ts';
import type { Step } from '../ports.ts';
import { stepRequested } from '../recover.ts';
import { noProblems, passedOn } from './values.ts';

/** The step's input is the node's configuration overlaid with its inputs. */
export function stepNode(step: Pick<Step, 'typeId' | 'safety'>): NodeType {
  return {
    typeId: step.typeId,
    safety: step.safety,
    check: () => noProblems,
    begin({ runId, node, visit, inputs, callAttempts }) {
      const callId = callIdOf(runId, node.id, visit);
      const input = { ...node.config, ...passedOn(inputs) };
      const call = {
        callId,
        nodeId: node.id,
        step: step.typeId,
        safety: step.safety,
        attempt: callAttempts + 1,
        input,
      };
      return { kind: 'wait', drafts: [stepRequested(call)], effects: [{ kind: 'step', callId }] };
    },
  };
}
