/** Seals the sensitive values of runs with a key derived from the host's secret. */
import { isCairnError, TerminalError } from '@cairn/protocol';
import type { Redactor, Vault } from '../../engine/ports.ts';
import { SensitiveRedactor } from '../../redaction/sensitive-redactor.ts';
import type { Keys } from './host-secret.ts';
import { seal, unseal } from './sealed.ts';

/** `redactor` removes the host's own secrets. */
export const createVault = (keys: Keys, redactor: Redactor | null): Vault => ({
  seal: (owner, text) => seal(keys, owner, text),
  open(owner, sealed) {
    try {
      return unseal(keys, owner, sealed);
    } catch (error) {
      if (isCairnError(error)) throw unavailable(error);
      throw error;
    }
  },
  redactorOf: (values, references) => new SensitiveRedactor(values, references, redactor),
});

const unavailable = (cause: unknown): TerminalError =>
  new TerminalError('sensitive_value_unavailable', {
    message: 'A sensitive value of this run was sealed with a key that this host does not have.',
    hint: 'Configure the key it was sealed with as masterKey.previous, or start a new run with the value.',
    cause,
  });
