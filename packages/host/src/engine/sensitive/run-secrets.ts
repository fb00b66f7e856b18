/** The sensitive values of one run, opened at the moment of an effect and never kept in its state. */
import type { Json } from '@cairn/protocol';
import type { RunState, SealedValues } from '../core/state.ts';
import type { Redactor, SensitiveValue, Vault } from '../ports.ts';
import { replacedIn } from './references.ts';
import { ownerOf } from './seal-inputs.ts';

/** Finds the sensitive values of a run; null if it has none. */
export type SecretsOf = (state: Pick<RunState, 'sealed'>, tenant: string) => RunSecrets | null;

/** Each set of values is opened once: the fold makes a new object when a value is added. */
export function createSecretsOf(vault: Vault | null): SecretsOf {
  const known = new WeakMap<SealedValues, RunSecrets>();
  return ({ sealed }, tenant) => {
    if (sealed === undefined || vault === null) return null;
    const secrets = known.get(sealed) ?? new RunSecrets(vault, tenant, sealed);
    known.set(sealed, secrets);
    return secrets;
  };
}

export class RunSecrets {
  readonly #vault: Vault;
  readonly #tenant: string;
  readonly #sealed: SealedValues;
  readonly #opened = new Map<string, Json>();
  #redactor: Redactor | null = null;

  constructor(vault: Vault, tenant: string, sealed: SealedValues) {
    this.#vault = vault;
    this.#tenant = tenant;
    this.#sealed = sealed;
  }

  /**
   * Replaces the run's references with their values. References of other runs stay. Throws
   * `sensitive_value_unavailable` if this host lacks the key.
   */
  open<Value>(value: Value): Value {
    return replacedIn(value, (reference) => this.#value(reference)) as Value;
  }

  /**
   * Redacts the values in everything that comes from outside. A value becomes its reference again, so that a tool can
   * use what a model passes on. A reference in outside text becomes a mask: text must not choose what is opened.
   */
  get redactor(): Redactor {
    this.#redactor ??= this.#vault.redactorOf(this.#all(), Object.keys(this.#sealed));
    return this.#redactor;
  }

  /** A value that cannot be opened was never given to anyone, so nothing can contain it. */
  #all(): readonly SensitiveValue[] {
    return Object.keys(this.#sealed).flatMap((reference): SensitiveValue[] => {
      try {
        const value = this.#value(reference);
        return value === undefined ? [] : [{ reference, value }];
      } catch {
        return [];
      }
    });
  }

  #value(reference: string): Json | undefined {
    const known = this.#opened.get(reference);
    const sealed = Object.hasOwn(this.#sealed, reference) ? this.#sealed[reference] : undefined;
    if (known !== undefined || sealed === undefined) return known;
    const text: Json = JSON.parse(this.#vault.open(ownerOf(this.#tenant, reference), sealed));
    // An output that contains an earlier value was sealed with the reference to it.
    const value = this.open(text);
    this.#opened.set(reference, value);
    return value;
  }
}
