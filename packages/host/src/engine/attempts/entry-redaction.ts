/**
 * Redacts what callers send, before a run sees it: the host's secrets, then the sensitive values of the run, then what
 * the mask finds.
 */
import type { Json, JsonObject } from '@cairn/protocol';
import type { RunState } from '../core/state.ts';
import type { StartRun } from '../engine.ts';
import type { Redactor } from '../ports.ts';
import type { SecretsOf } from '../sensitive/run-secrets.ts';
import { redactedStart } from '../values/redacted.ts';

export interface EntryRedaction {
  /** Masks everything but the inputs. */
  start(request: StartRun): StartRun;
  /** Masks inputs whose sensitive values are sealed: a mask in their place would be useless to the run. */
  sealedInputs(inputs: JsonObject): JsonObject;
  /** Masks what a fork sends, besides its inputs. */
  overlay<Value>(value: Value): Value;
  /** Redacts the inputs of a fork; they are masked once their sensitive values are sealed. */
  inputs(inputs: JsonObject): JsonObject;
  reason<Request extends { readonly reason?: string | undefined }>(request: Request): Request;
  /** Only the state of the run tells its sensitive values. */
  answer(value: Json, tenant: string): (state: RunState) => Json;
}

export interface EntryRedactors {
  readonly redactor: Redactor | null;
  readonly entryMask: Pick<Redactor, 'value'> | null;
  readonly secretsOf: SecretsOf;
}

export function entryRedaction({ redactor, entryMask, secretsOf }: EntryRedactors): EntryRedaction {
  const redacted = <Value>(value: Value): Value => (redactor === null ? value : redactor.value(value));
  const masked = <Value>(value: Value): Value => (entryMask === null ? value : entryMask.value(value));
  return {
    start(request) {
      const clean = redactor === null ? request : redactedStart(redactor, request);
      if (entryMask === null) return clean;
      const { options, trace, scopeId } = clean;
      return { ...clean, ...masked({ options, trace, scopeId }) };
    },
    sealedInputs: masked,
    inputs: redacted,
    overlay: (value) => masked(redacted(value)),
    reason: (request) => ({ ...request, reason: masked(redacted(request.reason)) }),
    answer(value, tenant) {
      const clean = redacted(value);
      return (state) => masked(secretsOf(state, tenant)?.redactor.value(clean) ?? clean);
    },
  };
}
