/** Redacts what callers send, before a run sees it: the host's secrets, then the sensitive values of the run. */
import type { Json } from '@cairn/protocol';
import type { RunState } from '../core/state.ts';
import type { StartRun } from '../engine.ts';
import type { Redactor } from '../ports.ts';
import type { SecretsOf } from '../sensitive/run-secrets.ts';
import { redactedStart } from '../values/redacted.ts';

export interface EntryRedaction {
  start(request: StartRun): StartRun;
  reason<Request extends { readonly reason?: string | undefined }>(request: Request): Request;
  /** Only the state of the run tells its sensitive values. */
  answer(value: Json, tenant: string): (state: RunState) => Json;
}

export function entryRedaction(redactor: Redactor | null, secretsOf: SecretsOf): EntryRedaction {
  const redacted = <Value>(value: Value): Value => (redactor === null ? value : redactor.value(value));
  return {
    start: (request) => (redactor === null ? request : redactedStart(redactor, request)),
    reason: (request) => ({ ...request, reason: redacted(request.reason) }),
    answer(value, tenant) {
      const clean = redacted(value);
      return (state) => secretsOf(state, tenant)?.redactor.value(clean) ?? clean;
    },
  };
}
