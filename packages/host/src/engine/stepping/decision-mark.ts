/** Marks each decision of a run in the crash record, with what it is about: a death in one says nothing about another. */
import type { RunId } from '@cairn/protocol';
import type { Fact } from '../core/facts.ts';
import type { CrashRecord } from '../ports.ts';

/** Loading, a due timer, a takeover: what follows from the log alone. */
export const NO_CAUSE: readonly string[] = [''];

/** More would not fit into the crash record. */
const MAX_CAUSES = 4;
const MAX_LENGTH = 60;

export class DecisionMark {
  readonly #runId: RunId;
  readonly #crashes: CrashRecord | null;
  #causes = NO_CAUSE;

  constructor(runId: RunId, crashes: CrashRecord | null) {
    this.#runId = runId;
    this.#crashes = crashes;
  }

  begin(facts: readonly Fact[]): void {
    if (this.#crashes === null) return;
    this.#causes = causesOf(facts);
    this.#crashes.deciding(this.#runId, this.#causes);
  }

  composed(): void {
    this.#crashes?.composed();
  }

  /** The decision is durable, or wrote nothing. */
  made(): void {
    this.#crashes?.decided(this.#runId, this.#causes);
  }
}

/** What the facts that lead to the decision are about, each once: ten deltas of one model turn are one cause. */
function causesOf(facts: readonly Fact[]): readonly string[] {
  if (facts.length === 0) return NO_CAUSE;
  const causes: string[] = [];
  for (const { subject = 'command' } of facts) {
    if (causes.length === MAX_CAUSES) break;
    const cause = subject.slice(0, MAX_LENGTH);
    if (!causes.includes(cause)) causes.push(cause);
  }
  return causes;
}
