/** Seals the outputs of a step that its node marks as sensitive, before its result is recorded. */
import { type Json, jsonSize, type WorkflowNode } from '@cairn/protocol';
import type { SealedValues, StepResult } from '../core/state.ts';
import { asOutputs } from '../nodes/values.ts';
import { isReference } from './references.ts';
import { MAX_SENSITIVE_BYTES, type SealPorts, sealValue } from './seal-inputs.ts';

export interface SealedResult {
  readonly result: StepResult;
  readonly sealed: SealedValues;
}

/** Returns null if there is nothing to seal. */
export function sealOutputs(
  ports: SealPorts,
  { node, tenant }: { readonly node: WorkflowNode | undefined; readonly tenant: string },
  result: StepResult,
): SealedResult | null {
  const { outputSensitivity } = node ?? {};
  if (outputSensitivity === undefined || !('outcome' in result)) return null;
  const outputs: Record<string, Json> = { ...asOutputs(result.outcome) };
  const sealed: Record<string, string> = {};
  for (const [name, isSensitive] of Object.entries(outputSensitivity)) {
    const value = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
    // A value of this run that the step gives back is a reference already.
    if (!isSensitive || value == null || isReference(value)) continue;
    const bytes = jsonSize(value);
    if (bytes > MAX_SENSITIVE_BYTES) return { result: { error: tooLarge(name, bytes) }, sealed: {} };
    const { reference, text } = sealValue(ports, { tenant, name, value });
    sealed[reference] = text;
    outputs[name] = reference;
  }
  return Object.keys(sealed).length === 0 ? null : { result: { outcome: outputs }, sealed };
}

const tooLarge = (name: string, bytes: number) => ({
  code: 'event_too_large' as const,
  message: `The sensitive output ${name} is ${bytes} bytes of JSON; at most ${MAX_SENSITIVE_BYTES} are allowed.`,
  retryable: false,
});
