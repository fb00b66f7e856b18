/** Seals the sensitive inputs of a new run, before anything of it is written. */
import {
  type Json,
  type JsonObject,
  jsonSize,
  TerminalError,
  type WorkflowDefinition,
  type WorkflowVariable,
} from '@cairn/protocol';
import type { SealedValues } from '../core/state.ts';
import type { Sha256, UniqueId, Vault } from '../ports.ts';
import { isReference, referenceOf } from './references.ts';

export interface SealPorts {
  /** Null for an engine without keys: it cannot run such a workflow. */
  readonly vault: Vault | null;
  readonly uniqueId: UniqueId;
  readonly sha256: Sha256;
}

export interface SealedInputs {
  readonly inputs: JsonObject;
  readonly sealed: SealedValues;
}

/**
 * The most bytes of sensitive values in one run, as JSON. Every result of the run is searched for them, in all their
 * encodings.
 */
export const MAX_SENSITIVE_BYTES = 16_384;

/** Returns null for a run without sensitive variables. `inherited` are the sealed values that the inputs refer to. */
export function sealInputs(
  ports: SealPorts,
  { definition, tenant, inputs }: { definition: WorkflowDefinition; tenant: string; inputs: JsonObject },
  inherited: SealedValues | undefined,
): SealedInputs | null {
  const names = sensitiveNames(definition);
  if (names === undefined) return inherited === undefined ? null : { inputs, sealed: inherited };
  const sealed: Record<string, string> = { ...inherited };
  const shown: Record<string, Json> = { ...inputs };
  let bytes = 0;
  for (const name of names) {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    // A value that came sealed from the parent stays as it is.
    if (value == null || (isReference(value) && Object.hasOwn(sealed, value))) continue;
    bytes += jsonSize(value);
    const { reference, text } = sealValue(ports, { tenant, name, value });
    sealed[reference] = text;
    shown[name] = reference;
  }
  if (bytes > MAX_SENSITIVE_BYTES) throw tooLarge(definition.id, bytes);
  return { inputs: shown, sealed };
}

export function sensitiveNames({ variables }: WorkflowDefinition): readonly string[] | undefined {
  const names = variables.filter(isSensitive).map(({ name }) => name);
  return names.length === 0 ? undefined : names;
}

const isSensitive = ({ sensitive }: WorkflowVariable): boolean => sensitive === true;

/** Seals one value. Its reference is new. */
export function sealValue(
  { vault, uniqueId, sha256 }: SealPorts,
  { tenant, name, value }: { readonly tenant: string; readonly name: string; readonly value: Json },
): { readonly reference: string; readonly text: string } {
  if (vault === null) throw notSealing();
  const reference = referenceOf(name, sha256(`${uniqueId()} ${name}`, 'base64url').slice(0, 12));
  return { reference, text: vault.seal(ownerOf(tenant, reference), JSON.stringify(value)) };
}

/** Binds a sealed value to its tenant and its reference. A parent and its child runs share both. */
export const ownerOf = (tenant: string, reference: string): string => `${tenant} ${reference}`;

const notSealing = (): TerminalError =>
  new TerminalError('capability_required', {
    message: 'The workflow marks variables as sensitive; this host does not seal values.',
    hint: 'Keep such values outside the run and pass references to them.',
    details: { requiredCapability: 'secrets' },
  });

const tooLarge = (workflowId: string, bytes: number): TerminalError =>
  new TerminalError('validation_error', {
    message: `A run of ${workflowId} cannot start: its sensitive inputs are ${bytes} bytes of JSON; at most ${MAX_SENSITIVE_BYTES} are allowed.`,
    hint: 'Keep large values outside the run, and pass the key that opens them.',
    details: { workflowId, bytes, limit: MAX_SENSITIVE_BYTES },
  });
