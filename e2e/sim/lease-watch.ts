/** An independent model of which node may step which run, to catch a store or an engine that breaks the lease rules. */
import type { RunId } from '@cairn/protocol';
import { isTerminalType } from '@cairn/protocol';
import type { Append, Appended } from '../../packages/host/src/log/ports/event-log.ts';
import type { Claim } from '../../packages/host/src/log/ports/queue.ts';
import type { Complain } from './breach.ts';
import type { Interesting } from './coverage.ts';

interface Held {
  fence: number;
  owner: string | null;
}

export class LeaseWatch {
  readonly #runs = new Map<RunId, Held>();
  readonly #sessions = new Map<string, number>();
  readonly #complain: Complain;
  readonly #count: (name: Interesting) => void;
  readonly #isUp: (owner: string) => boolean;

  constructor(complain: Complain, count: (name: Interesting) => void, isUp: (owner: string) => boolean) {
    this.#complain = complain;
    this.#count = count;
    this.#isUp = isUp;
  }

  holder(runId: RunId): string | null {
    return this.#runs.get(runId)?.owner ?? null;
  }

  /** Called in commit order, for appends that the store accepted. */
  appended(append: Append, appended: Appended): void {
    const { runId, claim, fence } = append;
    const held = this.#runs.get(runId) ?? { fence: 0, owner: null };
    this.#runs.set(runId, held);
    if (append.at !== undefined && append.at !== appended.seq) {
      this.#complain('a decision stands where it was expected', { runId, expected: append.at, got: appended.seq });
    }
    if (fence !== undefined && (held.owner === null || fence !== held.fence)) {
      this.#complain('a writer without the lease is refused', { runId, fence, current: held.fence, owner: held.owner });
    }
    if (claim !== undefined) {
      if (held.owner !== claim.owner) this.#taken(runId, held, claim.owner, claim.now, appended.fence);
      this.#extend(claim.owner, claim.until);
    }
    if (append.rest !== undefined || append.rows.some((row) => isTerminalType(row.type))) held.owner = null;
  }

  claimed(
    request: { readonly owner: string; readonly now: number; readonly until: number },
    claims: readonly Pick<Claim, 'runId' | 'fence'>[],
  ) {
    for (const { runId, fence } of claims) {
      const held = this.#runs.get(runId) ?? { fence: 0, owner: null };
      this.#runs.set(runId, held);
      this.#taken(runId, held, request.owner, request.now, fence);
    }
    this.#extend(request.owner, request.until);
  }

  renewed(owner: string, until: number): void {
    this.#sessions.set(owner, until);
  }

  released(runId: RunId, fence: number): void {
    const held = this.#runs.get(runId);
    if (held !== undefined && held.fence === fence) held.owner = null;
  }

  #extend(owner: string, until: number): void {
    this.#sessions.set(owner, Math.max(until, this.#sessions.get(owner) ?? 0));
  }

  #taken(runId: RunId, held: Held, owner: string, now: number, fence: number): void {
    const former = held.owner;
    if (former !== null) {
      const until = this.#sessions.get(former) ?? 0;
      if (until > now) this.#complain('a lease that lives is not taken', { runId, former, until, owner, now });
      if (former !== owner) this.#count('lease taken over');
      if (former !== owner && this.#isUp(former)) this.#count('lease taken over from a node that lives');
    }
    if (fence <= held.fence) this.#complain('each new lease has a greater fence', { runId, fence, before: held.fence });
    held.fence = fence;
    held.owner = owner;
  }
}
