/** Seals the sensitive outputs in a person's answer that gives the result of an interrupted step. */
import { isJsonObject, type Json, TerminalError } from '@cairn/protocol';
import { STEP_INTERRUPTED } from '../core/evolve/interrupts.ts';
import { dataOf } from '../core/interrupts.ts';
import type { RunState, SealedValues } from '../core/state.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { SealPorts } from './seal-inputs.ts';
import { sealOutputs } from './seal-outputs.ts';

interface AnsweredInterrupt {
  readonly state: Pick<RunState, 'view'>;
  readonly workflow: Pick<Workflow, 'nodes'>;
  readonly tenant: string;
  readonly interruptId: string;
}

/** Returns null if there is nothing to seal. Throws `validation_error` for a value that is too large. */
export function sealVerdict(
  ports: SealPorts,
  { state, workflow, tenant, interruptId }: AnsweredInterrupt,
  value: Json,
): { readonly value: Json; readonly sealed: SealedValues } | null {
  const interrupt = state.view.interrupts[interruptId];
  if (interrupt?.kind !== 'custom' || !isJsonObject(value) || value.action !== 'use') return null;
  if (dataOf<'custom'>(interrupt.data).customKind !== STEP_INTERRUPTED) return null;
  const node = workflow.nodes.get(interrupt.nodeId)?.node;
  const hidden = sealOutputs(ports, { node, tenant }, { outcome: value.result ?? null });
  if (hidden === null) return null;
  const { result, sealed } = hidden;
  if ('error' in result) throw new TerminalError('validation_error', { message: result.error.message });
  return { value: { ...value, result: result.outcome }, sealed };
}
