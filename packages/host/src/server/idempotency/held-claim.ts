/** The claim of a request that is being carried out, renewed so that no other node takes a slow request for a dead one. */
import type { Report, Timers } from '../../engine/ports.ts';
import type { IdempotencyClaim, IdempotencyRecords, RequestKey } from '../../log/ports/idempotency.ts';

/** How long a claim belongs to one node alone. After that another node may carry the request out. */
export const IDEMPOTENCY_LEASE_MS = 30_000;

/** A handler that takes longer may never end: its claim is not renewed any more. */
export const RENEWED_FOR_MS = 600_000;

export interface ClaimPorts {
  readonly idempotency: Pick<IdempotencyRecords, 'claim'>;
  readonly now: () => number;
  readonly timers: Timers;
  readonly report: Report;
}

export class HeldClaim {
  readonly #claim: IdempotencyClaim;
  readonly #ports: ClaimPorts;
  #cancelTimer: () => void = () => {};
  #renewal: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(claim: IdempotencyClaim, ports: ClaimPorts) {
    this.#claim = claim;
    this.#ports = ports;
    this.#renewLater();
  }

  /** Resolves once no renewal is on its way, which would make a dropped claim anew. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#cancelTimer();
    await this.#renewal;
  }

  #renewLater(): void {
    this.#cancelTimer = this.#ports.timers.after(IDEMPOTENCY_LEASE_MS / 3, () => {
      this.#renewal = this.#renew();
    });
  }

  async #renew(): Promise<void> {
    const { idempotency, now, report } = this.#ports;
    const at = now();
    if (at - this.#claim.now >= RENEWED_FOR_MS) return;
    try {
      const other = await idempotency.claim(claimOf(this.#claim, at));
      if (other !== null) return;
    } catch (error) {
      report({ level: 'warn', event: 'idempotency.renewal_failed', error });
    }
    if (!this.#isOver) this.#renewLater();
  }
}

/** The claim of an owner, from this instant on. */
export const claimOf = (key: RequestKey & { readonly owner: string }, now: number): IdempotencyClaim => ({
  tenant: key.tenant,
  endpoint: key.endpoint,
  key: key.key,
  requestDigest: key.requestDigest,
  owner: key.owner,
  now,
  until: now + IDEMPOTENCY_LEASE_MS,
});
