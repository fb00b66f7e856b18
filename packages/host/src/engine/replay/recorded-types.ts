/** Node types for a record without its host: those of this version, and the steps as the record shows them. */
import { parseWorkflowDefinition, type WorkflowDefinition } from '@cairn/protocol';
import { createNodeTypeRegistry } from '../nodes/node-types.ts';
import { stepNode } from '../nodes/step-node.ts';
import type { StepSafety } from '../ports.ts';
import type { NodeType, NodeTypeRegistry } from '../workflow/node-type.ts';
import { payloadOf, type RecordedRow } from './recorded-row.ts';

export interface RecordedTypes {
  readonly registry: NodeTypeRegistry;
  /** Call it for each row before the row is decided. */
  learn(row: RecordedRow): void;
  /** The type itself if neither this version nor the record knows how to decide it. */
  unknown(typeId: string | undefined): string | null;
}

export const parseStoredDefinition = (body: string): WorkflowDefinition => parseWorkflowDefinition(JSON.parse(body));

const safeties: readonly string[] = ['pure', 'read', 'write', 'idempotent'] satisfies readonly StepSafety[];

const isSafety = (value: unknown): value is StepSafety => typeof value === 'string' && safeties.includes(value);

export function recordedTypes(others: readonly NodeType[]): RecordedTypes {
  const known = createNodeTypeRegistry([], others);
  const steps = new Map<string, NodeType>();
  /** The function of a step is not needed: its results are in the record. */
  const asStep = (typeId: string): NodeType => ({
    ...stepNode({ typeId, safety: 'read' }),
    get safety() {
      return steps.get(typeId)?.safety ?? 'read';
    },
    begin: (context) => (steps.get(typeId) ?? stepNode({ typeId, safety: 'read' })).begin(context),
  });
  class Registry extends Map<string, NodeType> {
    override get(typeId: string): NodeType {
      return known.get(typeId) ?? asStep(typeId);
    }
    override has(): boolean {
      return true;
    }
  }
  return {
    registry: new Registry(known),
    learn(row) {
      if (row.type !== 'cairn.step.requested') return;
      const { step, safety } = payloadOf(row);
      if (typeof step === 'string' && isSafety(safety) && !steps.has(step))
        steps.set(step, stepNode({ typeId: step, safety }));
    },
    unknown: (typeId) => (typeId === undefined || known.has(typeId) || steps.has(typeId) ? null : typeId),
  };
}
