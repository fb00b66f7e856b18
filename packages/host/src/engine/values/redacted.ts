/** Protects run input from known secrets: redacts them in data, and refuses them in fields that must stay exact. */
import { TerminalError } from '@cairn/protocol';
import type { StartRun } from '../engine.ts';
import type { Redactor } from '../ports.ts';

/** The request that the run sees and records. */
export function redactedStart(redactor: Redactor, request: StartRun): StartRun {
  const { inputs, options, trace, scopeId, callbackUrl, contextId, definition } = request;
  refuseSecrets(redactor, 'callbackUrl', callbackUrl);
  refuseSecrets(redactor, 'contextId', contextId);
  refuseSecrets(redactor, 'The workflow', definition);
  return { ...request, ...redactor.value({ inputs, options, trace, scopeId }) };
}

/** Throws `validation_error`, because redaction would change the meaning of an address or a definition. */
export function refuseSecrets(redactor: Redactor | null, what: string, value: unknown): void {
  const found = redactor?.secretIn(value) ?? null;
  if (found === null) return;
  const place = found.path.length === 0 ? what : `${what} (${found.path.join('.')})`;
  throw new TerminalError('validation_error', {
    message: `${place} holds the secret ${found.name} of this host, and would be stored as it is.`,
    hint: 'Leave the secret out: a step reads what it needs where it runs.',
    details: { secret: found.name, path: found.path },
  });
}
