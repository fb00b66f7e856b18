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
  const path = redactor?.secretIn(value) ?? null;
  if (path === null) return;
  const place = path.length === 0 ? what : `${what} (${path.join('.')})`;
  // The name of the secret would tell a guesser which one it found.
  throw new TerminalError('validation_error', {
    message: `${place} holds a secret of this host, and would be stored as it is.`,
    hint: 'Leave the secret out: a step reads what it needs where it runs.',
    details: { path },
  });
}
